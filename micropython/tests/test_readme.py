"""The README is true: its Python runs, the commands copy what is there, its errors are raised."""

import re

import pytest
from learners import BOARDS, sources
from needs import needs_runtime
from runtimes import MainFailed, run

README = (BOARDS / "README.md").read_text()

# What the blocks take as given, beside what blocks before them have made.
GIVEN = """
readings = [[i * 75 % 101 + i % 3 * 900 + d for d in range(3)] for i in range(120)]
reading = readings[0]
"""


def blocks(language):
    """Fenced blocks in one language."""
    fenced = [block.split("\n", 1) for block in README.split("```")[1::2]]
    return [code for first_line, code in fenced if first_line == language]


def modules():
    return sources(BOARDS, *(path.name for path in BOARDS.glob("*_*.py")))


@pytest.mark.parametrize("runtime", ["cpython", "wasm", "micropython"])
def test_what_is_shown_runs(runtime):
    """All blocks, one after the other; that of the manifest is none of a board's."""
    needs_runtime(runtime)
    shown = [code for code in blocks("python") if not code.startswith("include")]
    assert len(shown) == 5
    shown[-1] = "x, y, z = x\n" + shown[-1]
    printed = run(runtime, {"main.py": GIVEN + "\n".join(shown), **modules()}, timeout=120)
    bits, label, same, state, alarm = printed.splitlines()
    assert bits.endswith(" bits")
    assert (label, same) == ("0", "0")
    assert state == "1 [1, 0, 0, 0, 0, 0, 0, 0] [10, -310, 890]"
    assert alarm.startswith("False ")


def test_commands_copy_files_that_there_are():
    """`.mpy` files are built: the line before says how."""
    lines = [line.split("#")[0].split() for code in blocks("sh") for line in code.splitlines()]
    copied = [line[2] for line in lines if line[:2] in (["mpremote", "cp"], ["ufs", "put"])]
    assert len(copied) == 7
    assert [name for name in copied if not (BOARDS / name).is_file()] == [
        "native/mapdpm_native.mpy"
    ]


LEARNER = "from mapdpm_int import MAPDPM\nm = MAPDPM(2, 8, (0, 0), (2500, 2500))\n"
VIPER = LEARNER.replace("_int", "_viper")
WRONG = [
    "m.learn([1])",
    "m.learn([1, 4000])",
    "m.learn([1, 0.5])",
    "m.learn(7)",
    "MAPDPM(1, 8, (0), (2500))",
    "MAPDPM(1, 8, (0,), (2500,), a0=8)",
    "MAPDPM(1, 8, (0,), (0,))",
    "MAPDPM(6, 8, [0] * 6, [9] * 6, (1, 1))",
    "import mapdpm_batch; mapdpm_batch.load(b'DPM')",
    "import mapdpm_setup; mapdpm_setup.Scale([[0.5], [1.5], [9.5]])",
    "import features_int; w = features_int.Window(4); [w.add(i / 2) for i in range(4)]",
]
ON_A_BOARD = [
    *[(runtime, LEARNER + call) for runtime in ("wasm", "micropython") for call in WRONG],
    *[("micropython", VIPER + call) for call in WRONG[:4]],
    ("wasm", VIPER),  # which is firmware without viper code
]


@pytest.mark.parametrize(("runtime", "main"), ON_A_BOARD)
def test_errors_are_explained(runtime, main):
    needs_runtime(runtime)
    assert explained(error(runtime, main, modules()))


def test_a_missing_module_is_explained():
    needs_runtime("wasm")
    only = sources(BOARDS, "features_int.py")
    assert explained(error("wasm", "import features_int", only))
    assert not explained(error("wasm", "import mapdpm_other", only))


def error(runtime, main, files):
    """The last line of what a program prints that ends with an exception."""
    with pytest.raises(MainFailed) as failed:
        run(runtime, {"main.py": main, **files}, timeout=60)
    return str(failed.value).strip().splitlines()[-1]


def explained(line):
    """Whether the table of errors has the message in the line."""
    table = README.split("| the last line |", 1)[1].split("\n\n", 1)[0]
    messages = re.findall("`(.*?)`", "".join(re.findall(r"^\| (.*?) \|", table, re.M)))
    return any(message in line for message in messages)
