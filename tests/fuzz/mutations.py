"""Seeded damage to files of models: to bytes, to arrays and to the header.

Damage to arrays and to the header gets a new checksum, as if it were meant: so the checks of what
a file says are tested, and not its checksum alone.
"""

import copy
import io
import json

import numpy as np
from archive_mutations import written

from dpmlite.estimators.model_files.archive import CHECKSUM, checksum

NUMBERS = (
    np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e-300, 1e300, 2.0**53, 2.0**63, -1.0, 0.0, 0.5,
    1.0, 2.0, 1e9, -1e9,
)  # fmt: skip
FACTORS = (0.0, -1.0, 1e-9, 0.5, 1.0 - 1e-12, 1.0 + 1e-7, 1.01, 2.0, 1e9, 1e200)
TYPES = (
    "f2", "f4", "f8", "g", "c16", "i1", "i4", "i8", "u1", "u8", "?", "U3", "S3", "M8[s]", ">f8",
    ">i8", "V8",
)  # fmt: skip
WHOLE = (-(2**63), 2**63 - 1, 2**31, -1, 0, 1, 2, 3, 10**6)
LEAVES = (
    None, True, False, -1, 0, 1, 10**6, 10**18, 10**400, 0.5, 1e308, -1e308, float("nan"),
    float("inf"), "", "x", "auto", "categorical", "log-normal", "normal-gamma", "beta-bernoulli",
    "dirichlet-multinomial", "normal-inverse-wishart", "array0", "array1", [], {}, [1],
    "nan", "1.0", 10**4000, {"tuple": []}, {"array": "array0"}, {"array": "array1"}, {"pairs": []},
    {"dict": {}},
)  # fmt: skip


def mutate(content, seed):
    """The bytes of a damaged file of a model, from those of a whole one."""
    rng = np.random.default_rng(seed)
    if rng.random() < 0.2:
        return of_bytes(content, rng)
    header, arrays = parts(content)
    for _ in range(int(rng.choice([0, 1, 1, 1, 1, 2, 3]))):
        kind = rng.random()
        if kind < 0.6:
            of_arrays(arrays, rng)
        elif kind < 0.7:
            of_sizes(arrays, rng)
        else:
            header = of_header(header, rng)
    if isinstance(header, dict):
        header.pop(CHECKSUM, None)
        header[CHECKSUM] = checksum(header, arrays)
    return written(header, arrays, rng)


def parts(content):
    """The header and the arrays of a whole file."""
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        arrays = dict(file)
    return json.loads(str(arrays.pop("header"))), arrays


def of_bytes(content, rng):
    """Bytes flipped, cut off, put in, or overwritten."""
    kind, at = rng.integers(5), int(rng.integers(len(content)))
    damaged = bytearray(content)
    if kind == 0:
        for place in rng.integers(len(content), size=int(rng.integers(1, 20))):
            damaged[place] ^= 1 << rng.integers(8)
    elif kind == 1:
        del damaged[at:]
    elif kind == 2:
        damaged[at:at] = rng.bytes(int(rng.integers(1, 100)))
    elif kind == 3:
        damaged[at : at + int(rng.integers(1, 100))] = b""
    else:
        size = int(rng.integers(1, 100))
        damaged[at : at + size] = bytes([int(rng.choice([0, 255]))]) * len(damaged[at : at + size])
    return bytes(damaged)


def of_arrays(arrays, rng):
    """Change numbers of an array, its type or its shape; or lose it, or put it over another."""
    if not arrays:
        return
    name = str(rng.choice(sorted(arrays)))
    array = arrays[name].copy()
    kind = rng.integers(12)
    if kind < 6 and array.size:
        places = rng.integers(array.size, size=int(rng.choice([1, 1, 2, array.size])))
        array.flat[places] = some_value(array, rng)
    elif kind == 6 and array.dtype.kind == "f" and array.size:
        places = rng.integers(array.size, size=int(rng.choice([1, 2, array.size])))
        array.flat[places] *= rng.choice(FACTORS)
    elif kind == 7 and array.size:
        array = rng.permuted(array.ravel()).reshape(array.shape)
    elif kind == 8:
        array = another_type(array, rng)
    elif kind == 9:
        array = another_shape(array, rng)
    elif kind == 10:
        del arrays[name]
        return
    else:
        arrays[str(rng.choice(sorted(arrays)))] = array
        return
    arrays[name] = array


def of_sizes(arrays, rng):
    """A row less, a row more or none, in all arrays that have as many: a cluster, or a row of X."""
    sizes = sorted({len(array) for array in arrays.values() if array.ndim})
    if not sizes:
        return
    n, kind = sizes[rng.integers(len(sizes))], rng.integers(4)
    rows = [np.arange(n - 1), np.arange(n + 1) % max(n, 1), np.arange(0), rng.permutation(n)][kind]
    for name, array in arrays.items():
        if array.ndim and len(array) == n > 0:
            arrays[name] = array[rows]


def some_value(array, rng):
    kind = array.dtype.kind
    if kind == "f":
        return rng.choice([*NUMBERS, *array.flat[:4], rng.normal(), 10.0 ** rng.integers(-9, 12)])
    if kind in "iu":
        value = WHOLE[rng.integers(len(WHOLE))]
        limits = np.iinfo(array.dtype)
        return min(max(value, limits.min), limits.max)
    if kind == "b":
        return bool(rng.integers(2))
    return rng.choice(["", "x", "nan"]) if kind == "U" else array.flat[0]


def another_type(array, rng):
    with np.errstate(all="ignore"):
        try:
            return array.astype(rng.choice(TYPES))
        except (ValueError, TypeError):
            return array


def another_shape(array, rng):
    kind = rng.integers(8)
    if kind == 0:
        return array.ravel()
    if kind == 1:
        return array[:-1] if array.ndim else array
    if kind == 2:
        return np.concatenate([array, array]) if array.ndim else array
    if kind == 3:
        return array.T
    if kind == 4:
        return array[None]
    if kind == 5:
        return array[:0] if array.ndim else array
    if kind == 6:
        return array[..., :-1] if array.ndim else array
    return np.asfortranarray(array)


def of_header(header, rng):
    """Change, rename or lose a value somewhere in the header."""
    header = copy.deepcopy(header)
    places = list(places_in(header))
    if not places:
        return header
    parent, key = places[rng.integers(len(places))]
    kind, value = rng.integers(5), parent[key]
    if kind < 2:
        parent[key] = copy.deepcopy(LEAVES[rng.integers(len(LEAVES))])
    elif kind == 4 and isinstance(value, int | float) and abs(value) < 1e300:
        parent[key] = value * float(rng.choice(FACTORS)) + int(rng.integers(-1, 2))
    elif kind == 4:  # values of others, deeper and deeper
        other, place = places[rng.integers(len(places))]
        parent[key] = copy.deepcopy(other[place])
    elif kind == 2 and isinstance(parent, dict):
        parent[str(rng.choice([f"{key}x", "means_", "predict", "__class__", "_x_", "levels_"]))] = (
            parent.pop(key)
        )
    elif kind == 3:
        del parent[key]
    return header


def places_in(value):
    """Every place of a tree of dicts and lists, as its parent and its key."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in list(inner) if isinstance(value, dict | list) else ():
        yield value, key
        if isinstance(part, dict | list):
            yield from places_in(part)
