"""Arrays and a JSON header in a zip file: numpy's npz, of which as little as possible is believed.

Members are stored as they are, so that reading a file takes no more memory than a few times its
size. Their headers are read by one pattern, and not by Python's parser. Modules for JSON and zip
files are imported only when a model is saved or loaded, for their imports take longer than most of
dpmlite.
"""

from __future__ import annotations

import math
import re
from typing import IO, TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Mapping

    Array = np.ndarray[Any, Any]

HEADER = "header"
CHECKSUM = "checksum"

# What numpy writes at the start of an array, version 1.0, without a field of a record.
MAGIC = b"\x93NUMPY\x01\x00"
DESCRIPTION = re.compile(
    r"\{'descr': '([<>|](?:b1|[iu][1248]|f[248]|U\d{1,9}))', "
    r"'fortran_order': (True|False), 'shape': \(([\d, ]{0,200})\), \} *\n"
)

MAX_CODE_POINT = 0x10FFFF
SURROGATES = (0xD800, 0xDFFF)


def write_archive(file: IO[bytes], header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write a header of plain data, and arrays, with a checksum of all of it."""
    import json
    import zipfile

    signed = {**header, CHECKSUM: checksum(header, arrays)}
    members = {HEADER: np.array(json.dumps(signed)), **arrays}
    # As numpy.savez, which takes `allow_pickle` for an array before numpy 2.
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in members.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read_archive(content: bytes) -> tuple[Any, dict[str, Array]]:
    """The header and the arrays of a file that `write_archive` wrote.

    The header is any JSON, and its checksum is not compared. Where the file is damaged, `zipfile`
    raises errors of many kinds.

    Raises
    ------
    ValueError
        If it is no such file, or does not keep what it says of itself.
    """
    import io
    import json
    import zipfile

    file = io.BytesIO(content)
    if not zipfile.is_zipfile(file):
        raise ValueError("it is no zip file")
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        _check_members(members, len(content))
        arrays = {
            member.filename.removesuffix(".npy"): _array_of(archive.read(member))
            for member in members
        }
    if HEADER not in arrays:
        raise ValueError("it has no header")
    return json.loads(str(arrays.pop(HEADER))), arrays


def checksum(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> str:
    """SHA-256 of a header without its checksum, and of the arrays."""
    import hashlib
    import json

    unsigned = {key: value for key, value in header.items() if key != CHECKSUM}
    total = hashlib.sha256(json.dumps(unsigned).encode())
    for name in sorted(arrays):
        array = arrays[name]
        total.update(f"{name} {array.dtype.str} {array.shape}".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def _check_members(members: list[zipfile.ZipInfo], n_bytes: int) -> None:
    """Raise ValueError unless members have names of their own, and together fit into the file."""
    import zipfile

    names = [member.filename for member in members]
    if len(set(names)) < len(names):
        raise ValueError("a member is there twice")
    for member in members:
        if not member.filename.endswith(".npy"):
            raise ValueError(f"member {member.filename!r} is no array")
        if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
            raise ValueError(f"member {member.filename!r} is compressed or encrypted")
    if sum(member.file_size for member in members) > n_bytes:
        raise ValueError(f"its members are longer than the file, of {n_bytes} bytes")


def _array_of(content: bytes) -> Array:
    """The array of a member, in the machine's byte order."""
    start = len(MAGIC) + 2
    if not content.startswith(MAGIC) or len(content) < start:
        raise ValueError("a member is no array of numpy's format 1.0")
    end = start + int.from_bytes(content[len(MAGIC) : start], "little")
    described = DESCRIPTION.fullmatch(content[start:end].decode("latin-1"))
    if described is None:
        raise ValueError("an array is not of numbers, of texts, or of True and False")
    kind, in_columns, sizes = described.groups()
    dtype, shape = np.dtype(kind), tuple(int(n) for n in re.findall(r"\d+", sizes))
    n_bytes = len(content) - end
    if dtype.itemsize == 0 or dtype.itemsize * math.prod(shape) != n_bytes:
        raise ValueError(f"an array of shape {shape} has {n_bytes} bytes")
    if max(shape, default=0) > len(content):  # beside a size of 0, any other would fit
        raise ValueError(f"an array has shape {shape}")
    if in_columns == "True":
        array = np.ndarray(shape[::-1], dtype, bytearray(content[end:])).T
    else:
        array = np.ndarray(shape, dtype, bytearray(content[end:]))
    return _checked(array.astype(dtype.newbyteorder("="), copy=False))


def _checked(array: Array) -> Array:
    """An array, after a check that its bytes stand for values of its type."""
    if array.dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise ValueError("an array of True and False has another byte")
    if array.dtype.kind == "U" and array.size:
        codes = np.frombuffer(array.tobytes(), np.uint32)
        low, high = SURROGATES
        if codes.max() > MAX_CODE_POINT or ((codes >= low) & (codes <= high)).any():
            raise ValueError("a text has a character that there is not")
    return array
