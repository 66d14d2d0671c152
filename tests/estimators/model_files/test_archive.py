"""Zip files that lie: about sizes, shapes and types; none takes more memory than its own size."""

import io
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from dpmlite.estimators.model_files.archive import read_archive, write_archive

ARRAYS = {
    "reals": np.arange(6.0).reshape(2, 3),
    "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "labels": np.array([3, -1]),
    "empty": np.zeros((0, 4)),
    "number": np.array(2.5),
    "flags": np.array([True, False]),
    "texts": np.array(["Köln", "𝛼", ""]),
    "big-endian": np.arange(3, dtype=">f8"),
    "small": np.arange(3, dtype=np.float16),
}


def archive_of(**arrays):
    file = io.BytesIO()
    write_archive(file, {"x": [1, None]}, arrays)
    return file.getvalue()


def zipped(content, name="a.npy", compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def described(descr, shape, data=b"", magic=b"\x93NUMPY\x01\x00"):
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode() + b"\n"
    return magic + len(text).to_bytes(2, "little") + text + data


def test_arrays_come_back():
    header, arrays = read_archive(archive_of(**ARRAYS))
    assert header["x"] == [1, None]
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype.isnative
        assert arrays[name].flags.writeable


BAD = {
    "no zip file": (b"PK\x03\x04", "it is no zip file"),
    "no header": (zipped(described("'<f8'", "()", bytes(8))), "it has no header"),
    "no array": (zipped(b"x", "x.txt"), "member 'x.txt' is no array"),
    "compressed": (
        zipped(bytes(10**6), compression=zipfile.ZIP_DEFLATED),
        "member 'a.npy' is compressed or encrypted",
    ),
    "objects": (zipped(described("'|O'", "(1,)", bytes(8))), "not of numbers"),
    "records": (zipped(described("[('a', '<f8')]", "(1,)", bytes(8))), "not of numbers"),
    "code": (zipped(described("__import__('os')", "(1,)", bytes(8))), "not of numbers"),
    "another format": (
        zipped(described("'<f8'", "(1,)", bytes(8), b"\x93NUMPY\x02\x00")),
        "no array of numpy's format",
    ),
    "a short one": (zipped(b"\x93NUM"), "no array of numpy's format"),
    "a giant shape": (
        zipped(described("'<f8'", "(99999999999999999,)", bytes(8))),
        r"an array of shape \(99999999999999999,\) has 8 bytes",
    ),
    "a shape that patterns could split in many ways": (
        zipped(described("'<f8'", f"({60 * '1'};)")),
        "not of numbers",
    ),
    "a giant shape of nothing": (
        zipped(described("'<f8'", "(0, 99999999999999999)")),
        "an array has shape",
    ),
    "texts of no letters": (
        zipped(described("'<U0'", "(99999999999999999,)")),
        "an array of shape",
    ),
    "no letter": (
        zipped(described("'<U1'", "(1,)", b"\xff\xff\xff\xff")),
        "a text has a character",
    ),
    "half a letter": (
        zipped(described("'<U1'", "(1,)", b"\x00\xd8\0\0")),
        "a text has a character",
    ),
    "neither true nor false": (zipped(described("'|b1'", "(1,)", b"\2")), "has another byte"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_lies_is_refused(name):
    content, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        read_archive(content)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_must_not_be_there_twice():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for _ in range(2):
            archive.writestr("a.npy", described("'<f8'", "()", bytes(8)))
    with pytest.raises(ValueError, match="a member is there twice"):
        read_archive(file.getvalue())


def test_members_that_share_their_bytes_are_refused():
    """An overlap: each of many entries of the directory has the bytes of the first one."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a000.npy", described("'<f8'", "(10000,)", bytes(80000)))
        first = archive.filelist[0]
        for i in range(1, 100):
            entry = zipfile.ZipInfo(f"a{i:03d}.npy")
            for name in ("header_offset", "CRC", "file_size", "compress_size", "external_attr"):
                setattr(entry, name, getattr(first, name))
            archive.filelist.append(entry)
            archive.NameToInfo[entry.filename] = entry
    with pytest.raises(ValueError, match="its members are longer than the file"):
        read_archive(file.getvalue())


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
def test_a_bomb_takes_no_memory(tmp_path):
    """A file of 1 MB that unpacks to 1 GB is refused in a process that may take 100 MB more."""
    file = tmp_path / "bomb.npz"
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("header.npy", "w") as member,
    ):
        member.write(described("'<U250000000'", "()"))
        for _ in range(1000):
            member.write(bytes(10**6))
    code = f"""if True:
        import resource, dpmlite
        dpmlite.MAPDPM().fit([[0.0], [1.0]])
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            dpmlite.MAPDPM.load({str(file)!r})
        except ValueError as error:
            print(error)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used)
    """
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    error, more = done.stdout.splitlines()
    assert error.endswith("member 'header.npy' is compressed or encrypted")
    assert int(more) < 100_000  # kB
