"""The header in C gives the answers of the Python file, where there is a compiler."""

import ast
import ctypes
import shutil
import signal
import subprocess
import sys
from array import array

import million
import numpy as np
import pytest
import streams
from check import answers
from learners import BOARDS, HERE
from mapdpm_int import MAPDPM

VECTORS = sorted((HERE / "vectors").glob("*.txt"))
BAD = -(2**31)
DEFAULTS = (1, 10), (1, 1), (1, 1), 2048  # of c0, a0, alpha and the memory

# Functions of a header are static: what is called from here is given names of its own.
SOURCE = """
#include "mapdpm.h"
int size(void) { return sizeof(mapdpm); }
int init(mapdpm *m, int32_t *words, int32_t dim, int32_t clusters, int32_t *m0, int32_t *b0,
         int32_t p, int32_t q, int32_t h, int32_t a, int32_t memory) {
    return mapdpm_init(m, words, dim, clusters, m0, b0, p, q, h, a, memory);
}
int32_t surprise(mapdpm *m, int32_t *x, int density) { return mapdpm_surprise(m, x, density); }
int32_t predict(mapdpm *m, int32_t *x) { return mapdpm_predict(m, x); }
int32_t learn(mapdpm *m, int32_t *x, int scan) { return mapdpm_learn(m, x, scan); }
int32_t merge(mapdpm *m, int32_t limit) { return mapdpm_merge(m, limit); }
void mean(mapdpm *m, int32_t k, int32_t *x) { mapdpm_mean(m, k, x); }
int32_t clusters(mapdpm *m) { return m->k; }
"""

# -ftrapv ends the program where a number overflows.
FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror", "-ftrapv", "-shared", "-fPIC")


@pytest.fixture(scope="module", params=["c99", "c++11"])
def library(request, tmp_path_factory):
    """The header as a shared library, compiled as C and as C++."""
    name, suffix = ("cc", "c") if request.param == "c99" else ("c++", "cpp")
    compiler = shutil.which(name)
    if compiler is None:
        pytest.skip(f"there is no compiler {name}")
    folder = tmp_path_factory.mktemp("c")
    source = SOURCE if suffix == "c" else SOURCE.replace("\nint", '\nextern "C" int')
    source = source if suffix == "c" else source.replace("\nvoid", '\nextern "C" void')
    (folder / f"learner.{suffix}").write_text(source)
    flags = [*FLAGS, f"-std={request.param}", f"-I{BOARDS}", "-o", str(folder / "learner.so")]
    subprocess.run([compiler, str(folder / f"learner.{suffix}"), *flags], check=True)
    return ctypes.CDLL(str(folder / "learner.so"))


def ints(values):
    return (ctypes.c_int32 * len(values))(*values)


class Learner:
    """The learner in C, with the methods and attributes of that in Python."""

    def __init__(
        self, library, dim, clusters, m0, b0, c0=(1, 10), a0=(1, 1), alpha=(1, 1), memory=2048
    ):
        self.library, self.dim, self.clusters = library, dim, clusters
        self.n_slots = (clusters + 2) * (3 * dim + 4)
        self.words = ints([0] * (self.n_slots + clusters + 2 * dim))
        self.learner = ctypes.create_string_buffer(library.size())
        shape, steps = 2 * a0[0] // a0[1], (alpha[0] << 10) // alpha[1]
        numbers = (*c0, shape, steps, memory)
        if not library.init(self.learner, self.words, dim, clusters, ints(m0), ints(b0), *numbers):
            raise ValueError("prior out of range")

    @property
    def _slots(self):
        return array("i", self.words[: self.n_slots])

    @property
    def counts(self):
        return self.words[self.n_slots : self.n_slots + self.clusters]

    @property
    def k(self):
        return self.library.clusters(self.learner)

    def surprise(self, x, density=True):
        return self.library.surprise(self.learner, ints(x), density)

    def predict(self, x):
        return self.library.predict(self.learner, ints(x))

    def learn(self, x, scan=True):
        return self.library.learn(self.learner, ints(x), scan)

    def merge(self, limit=0):
        return self.library.merge(self.learner, limit)

    def mean(self, k):
        x = ints([0] * self.dim)
        self.library.mean(self.learner, k, x)
        return list(x)


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_answers_are_those_of_the_vectors(library, path):
    first, second, *lines = path.read_text().splitlines()
    arguments = [ast.literal_eval(part) for part in first.split(";")]
    n, value, counts = ast.literal_eval(second)
    rows = [[int(word) for word in line.split()] for line in lines]
    learner = Learner(library, *arguments)
    assert len(rows) == n
    assert answers(learner, rows) == value
    assert learner.counts == counts


@pytest.mark.parametrize("seed", range(6))
def test_all_that_it_knows_is_that_of_the_python_file(library, seed):
    """At the ends of the ranges, where rows are halved, and a full table merges."""
    rng = np.random.default_rng(seed)
    dim, clusters = int(rng.integers(1, 5)), int(rng.integers(1, 7))
    m0 = rng.integers(-2047, 2048, dim).tolist()
    b0 = rng.choice([1, 40, 20000, 2**22], dim).tolist()
    c0 = [(32, 1), (1, 32), (1, 10), (7, 3), (32, 32), (1, 1)][seed]
    prior = c0, (int(rng.integers(1, 129)), 2), (1, 3), [64, 100, 2048][seed % 3]
    ours, theirs = (
        MAPDPM(dim, clusters, m0, b0, *prior),
        Learner(library, dim, clusters, m0, b0, *prior),
    )
    rows = rng.integers(-2048, 2048, (40, dim))[rng.integers(0, 40, 1500)]
    for i, x in enumerate((rows + rng.integers(-9, 10, rows.shape)).clip(-2048, 2047).tolist()):
        assert theirs.surprise(x) == ours.surprise(x)
        assert theirs.learn(x, False) == ours.learn(x, False)
        if i % 50 == 0:
            assert theirs.merge(1 << 12) == ours.merge(1 << 12)
            assert theirs._slots == ours._slots
            assert (theirs.counts, theirs.k) == (ours.counts, ours.k)
            assert [theirs.mean(k) for k in range(-1, clusters)] == [
                ours.mean(k) for k in range(-1, clusters)
            ]


def test_what_is_out_of_range_is_refused(library):
    learner = Learner(library, 2, 3, [0, 0], [9, 9])
    learner.learn([5, 5])
    before = learner._slots, learner.counts
    for x in ([2048, 0], [0, -2049]):
        assert learner.surprise(x) == learner.predict(x) == learner.learn(x) == BAD
    assert (learner._slots, learner.counts) == before
    for wrong in (
        (0, 3, [], []),
        (1, 0, [0], [1]),
        (1, 128, [0], [1]),
        (1, 3, [2048], [1]),
        (1, 3, [0], [0]),
        (6, 3, [0] * 6, [1] * 6, (1, 1)),
        (1, 3, [0], [1], (33, 1)),
        (1, 3, [0], [1], (1, 10), (65, 1)),
        (1, 3, [0], [1], (1, 10), (1, 1), (1024, 1)),
        (1, 3, [0], [1], (1, 10), (1, 1), (1, 1), 63),
    ):
        with pytest.raises(ValueError, match="prior out of range"):
            Learner(library, *wrong)
        with pytest.raises(ValueError, match=r"prior out of range|empty"):
            MAPDPM(*wrong)


OUT_OF_RANGE = """
import sys
sys.path[:0] = {path!r}
import million, numpy as np
library = million.compiled(".")
assert million.learned(library, np.array([[5]]))[1] == 1
million.learned(library, np.array([[4000]]))  # refused by a number that is out of range itself
"""


def test_a_number_out_of_range_ends_a_checked_learner(tmp_path):
    """That of million.py; up to there it gives the labels of the Python file."""
    if shutil.which("c++") is None:
        pytest.skip("there is no compiler c++")
    (tmp_path / "main.py").write_text(OUT_OF_RANGE.format(path=[str(HERE), str(BOARDS)]))
    command = [sys.executable, "main.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGABRT
    assert done.stderr.strip() == f"{BAD} is out of range"
    library = million.compiled(tmp_path)
    for make in (streams.bursts, streams.seasons):
        rows, _ = streams.stream(make, 3000)
        learner = streams.learner(len(rows[0]))
        labels, k = million.learned(library, rows)
        assert labels.tolist() == [learner.learn(x) for x in rows]
        assert k == learner.k
