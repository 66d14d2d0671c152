"""mapdpm.h on an emulated RP2040, the processor of a Pico: its answers are those of the vectors.

The emulator is npm's rp2040js, in DPMLITE_RP2040JS (path of its index.js), or where `runtimes`
looks for npm's packages; the compiler is Debian's gcc-arm-none-eabi. No package was found that has
firmware of a Pico, so there is none: the C code has the chip for itself.
"""

import ast
import struct
import subprocess

import pytest
from learners import BOARDS, HERE
from needs import needs_npm_file, needs_program
from test_learners import VECTORS

COMPILER = "arm-none-eabi-gcc"
OPTIONS = ["-mcpu=cortex-m0plus", "-mthumb", "-O2", "-ffreestanding", "-Wall", "-Werror"]
OPTIONS += ["-fno-tree-loop-distribute-patterns", "-nostdlib", f"-I{BOARDS}"]
PLACES = ["-Wl,-e,start", "-Wl,-Ttext=0x10000000", "-Wl,-Tbss=0x20000000"]


def words(vector):
    """A vector as words of memory, and its answers: hash, number of clusters, weights."""
    first, second, *lines = vector.read_text().splitlines()
    dim, clusters, m0, b0, *rest = [ast.literal_eval(part) for part in first.split(";")]
    defaults = [(1, 10), (1, 1), (1, 1), 2048]
    c0, a0, alpha, memory = [*rest, *defaults[len(rest) :]]
    n, value, counts = ast.literal_eval(second)
    prior = [*c0, 2 * a0[0] // a0[1], (alpha[0] << 10) // alpha[1], memory]
    rows = [int(word) for line in lines for word in line.split()]
    answers = [value, sum(count > 0 for count in counts), *counts]
    return [dim, clusters, *prior, n, *m0, *b0, *rows], answers


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """rp2040.c as an ELF file."""
    needs_program(COMPILER)
    path = tmp_path_factory.mktemp("rp2040") / "program.elf"
    command = [COMPILER, *OPTIONS, str(HERE / "rp2040.c"), "-lgcc", *PLACES, "-o", str(path)]
    subprocess.run(command, check=True)
    return path


@pytest.mark.parametrize("vector", VECTORS, ids=lambda path: path.stem)
def test_answers_are_those_of_the_vectors(program, vector, tmp_path):
    needs_program("node")
    package = needs_npm_file("DPMLITE_RP2040JS", "rp2040js/dist/esm/index.js")
    memory, answers = words(vector)
    stream = tmp_path / "stream"
    stream.write_bytes(struct.pack(f"<{len(memory)}i", *memory))
    command = ["node", str(HERE / "rp2040.mjs"), str(package), str(program), str(stream)]
    sent = subprocess.run(command, check=True, capture_output=True, timeout=120).stdout
    assert list(struct.unpack(f"<{len(sent) // 4}i", sent)) == answers
