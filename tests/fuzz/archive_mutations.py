"""Seeded damage to what holds a model's arrays: the zip file, headers of arrays, JSON as text.

The checksum is of values, so that it holds where the same values are written in another way.
"""

import io
import json
import struct
import warnings
import zipfile

import numpy as np

DEEP = 100_000  # levels of a text: more than Python's stack has
COMPRESSIONS = (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
NAMES = (
    "x.npy",
    "x",
    "../x.npy",
    "/x.npy",
    "array0",
    "array0.npy",
    "header.npy",
    "é\n.npy",
    ".npy",
)
TEXTS = (
    "", "null", "[]", "{", '"', "1e999", "NaN", "[" * DEEP, '{"a":' * DEEP, "[" * DEEP + "]" * DEEP,
    "9" * 10_000, '{"format": "dpmlite model"}', "\x00", '"\\ud800"', "\ufeff{}",
)  # fmt: skip
PLACES = ("true", "false", "null", '"x"', "-0.0", "1E400", "-Infinity", "9" * 5000, "[" * DEEP)
DESCRIPTIONS = (
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n",
    "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }\n",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }\n",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 2), }\n",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9223372036854775807), }\n",
    "{'descr': '<U999999999', 'fortran_order': False, 'shape': (), }\n",
    "{'descr': '<f8', 'fortran_order': 2, 'shape': (1,), }\n",
    "[" * 60_000 + "\n",
    "__import__('os')\n",
    " " * 60_000 + "\n",
)


def written(header, arrays, rng):
    """A file of a model; one in five is damaged in one of the ways of this module."""
    members = {"header": npy(np.array(json.dumps(header)))}
    members |= {name: npy(array) for name, array in arrays.items()}
    pairs = [(f"{name}.npy", content) for name, content in members.items()]
    if rng.random() < 0.8:
        return zipped(pairs)
    return DAMAGES[rng.integers(len(DAMAGES))](pairs, rng)


def zipped(pairs, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", compression) as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, content in pairs:
            archive.writestr(name, content)
    return file.getvalue()


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def of_compression(pairs, rng):
    """Compressed members; one of them may be many times as long as the file."""
    bomb = [("bomb.npy", npy(np.zeros(10**6)))] if rng.random() < 0.3 else []
    return zipped(pairs + bomb, COMPRESSIONS[rng.integers(len(COMPRESSIONS))])


def of_names(pairs, rng):
    """A member twice, one more, or one under another name."""
    i, kind = rng.integers(len(pairs)), rng.integers(3)
    name, content = pairs[i]
    other = str(rng.choice(NAMES))
    if kind == 0:
        return zipped([*pairs, (name, pairs[rng.integers(len(pairs))][1])])
    if kind == 1:
        return zipped([*pairs, (other, content)])
    return zipped([*pairs[:i], (other, content), *pairs[i + 1 :]])


def of_description(pairs, rng):
    """What an array says of itself is another, is huge, or is of another version."""
    i = rng.integers(len(pairs))
    name, content = pairs[i]
    (length,) = struct.unpack("<H", content[8:10])
    described, rest = content[10 : 10 + length], content[10 + length :]
    version = int(rng.choice([1, 1, 1, 2, 3, 9]))
    kind = rng.integers(3)
    if kind == 0:
        described = described.replace(b"'shape': (", b"'shape': (9999999999, ", 1)
    elif kind == 1:
        described = DESCRIPTIONS[rng.integers(len(DESCRIPTIONS))].encode()
    said = len(described) if rng.random() < 0.8 else int(rng.choice([0, 1, 65535]))
    size = struct.pack("<H" if version == 1 else "<I", said)
    content = b"\x93NUMPY" + bytes([version, 0]) + size + described + rest
    return zipped([*pairs[:i], (name, content), *pairs[i + 1 :]])


def of_text(pairs, rng):
    """The header is another text or no text; a key comes twice, or has a value of no JSON."""
    text, kind = str(np.load(io.BytesIO(pairs[0][1]))), rng.integers(5)
    if kind == 0:
        text = TEXTS[rng.integers(len(TEXTS))]
    elif kind == 1:  # the last of equal keys is read
        text = '{"version": 1, "fitted": {}, ' + text[1:]
    elif kind == 2:
        text = text[:-1] + ', "version": 1, "estimator": "MAPDPM"}'
    elif kind == 3:
        at = text.find(": ", int(rng.integers(len(text)))) + 2
        text = text[:at] + str(rng.choice(PLACES)) + text[at:]
    values = np.array(text) if kind < 4 else np.frombuffer(text.encode(), rng.choice(["u1", "S1"]))
    return zipped([(pairs[0][0], npy(values)), *pairs[1:]])


def of_directory(pairs, rng):
    """Fields of the zip file's directory at its end: sizes, offsets, flags, numbers of members."""
    content = bytearray(zipped(pairs))
    start = content.find(b"PK\x01\x02")
    for at in rng.integers(start, len(content), size=int(rng.choice([1, 1, 4]))):
        value = int(rng.choice([0, 1, 2, 0x7F, 0xFF]))
        content[at : at + int(rng.choice([1, 2, 4]))] = bytes([value])
    return bytes(content)


DAMAGES = (of_compression, of_names, of_description, of_text, of_directory)
