"""Files that replace older ones only when they are complete."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import IO


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a file to write, which replaces an older one at `path` only when it is complete.

    It is on the disk before it takes the older file's name, whose permissions it gets: a kill, a
    full disk or a power cut leaves the old file or the new one. A pipe or a device at `path` is
    written to directly.
    """
    if not os.path.basename(os.fsdecode(path)):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    target = os.path.realpath(os.fsdecode(path))
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            yield file
        return
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    name = f".{os.urandom(8).hex()}.unfinished"  # several threads may save at once
    unfinished = os.path.join(folder, name)
    try:
        with _opened(unfinished, path) as file:
            if os.path.exists(target):
                os.chmod(unfinished, stat.S_IMODE(os.stat(target).st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unfinished)
    _sync_folder(folder)


def _opened(unfinished: str, path: str | os.PathLike[str]) -> IO[bytes]:
    """A new file, opened; errors name `path`, the file that it will become."""
    try:
        return open(unfinished, "xb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _sync_folder(folder: str) -> None:
    """Bring the new name to the disk, where the system can: Windows opens no folders."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
