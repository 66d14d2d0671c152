"""The native module gives the answers of the Python file, and has what that has."""

import inspect
import re

import mapdpm_int
import native
import numpy as np
import pytest
from learners import BOARDS, HERE, sources
from needs import needs_native, needs_runtime
from runtimes import run
from test_learners import VECTORS, check

import dpmlite

SOURCE = (BOARDS / "native" / "mapdpm_native.c").read_text()
# The architectures of .mpy files by number (py/persistentcode.h).
NUMBERS = {"x64": 2, "armv6m": 4, "armv7m": 5, "armv7emsp": 7, "xtensawin": 10, "rv32imc": 11}


def module(architecture):
    """The file as one of a runtime's."""
    needs_native(architecture)
    return {"mapdpm_native.mpy": native.built(architecture)}


def modules(runtime):
    needs_runtime(runtime)
    return module(native.PROCESSORS[runtime])


def test_the_class_has_what_the_python_class_has():
    """Arguments in their order, methods, and the attributes that Python code reads."""
    arguments = list(inspect.signature(mapdpm_int.MAPDPM).parameters)
    assert re.findall(r"\{MP_QSTR_(\w+), (?:MP_ARG_REQUIRED \| )?MP_ARG_OBJ", SOURCE) == arguments
    methods = [name for name in vars(mapdpm_int.MAPDPM) if not name.startswith("_")]
    added = re.findall(r"methods\[\d\] = .*QSTR_(\w+)\)", SOURCE)
    assert sorted(added) == sorted(methods)
    assert f"methods[{len(methods)}];" in SOURCE
    learner = mapdpm_int.MAPDPM(1, 1, [0], [1])
    read = re.findall(r"name == MP_QSTR_(\w+)|names\[\w+\] = MP_QSTR_(\w+)", SOURCE)
    assert sorted(map("".join, read)) == sorted([*vars(learner), "k"])  # k is stored, too


def test_the_message_of_a_bad_row_is_that_of_the_python_class():
    learner = mapdpm_int.MAPDPM(1, 1, [0], [1])
    with pytest.raises(ValueError, match="x: dim") as raised:
        learner.learn([5000])
    assert f'"{raised.value}"' in SOURCE


@pytest.mark.parametrize("architecture", native.COMPILERS)
def test_a_file_is_of_its_architecture(architecture):
    content = module(architecture)["mapdpm_native.mpy"]
    assert content[:1] == b"M"
    assert content[2] >> 2 == NUMBERS[architecture]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda path: path.stem)
@pytest.mark.parametrize("runtime", native.PROCESSORS)
def test_answers_are_the_references(runtime, vector):
    check(runtime, vector, modules(runtime), learner="mapdpm_native")


def test_all_that_it_knows_is_that_of_the_integer_learner():
    """Here alone: a board in QEMU would take half an hour."""
    files = {**modules("micropython"), **sources(BOARDS, "mapdpm_int.py")}
    text = (HERE / "viper_check.py").read_text().replace("mapdpm_viper", "mapdpm_native")
    main = "import viper_check\nviper_check.check(300)\n"
    printed = run("micropython", {**files, "viper_check.py": text, "main.py": main}, timeout=600)
    assert printed.endswith("taken away 40\nrefused 8\n")


@pytest.mark.parametrize("runtime", native.PROCESSORS)
def test_what_is_built_on_a_learner_takes_it(runtime):
    names = "mapdpm_int.py", "mapdpm_batch.py", "mapdpm_alarm.py", "mapdpm_split.py"
    files = {**modules(runtime), **sources(BOARDS, *names)}
    files |= sources(HERE, "viper_check.py", "native_check.py")
    files["viper_check.py"] = files["viper_check.py"].replace("mapdpm_viper", "mapdpm_native")
    rows = 300 if runtime == "micropython" else 60
    files["main.py"] = f"import native_check\nnative_check.check({rows})\n"
    assert run(runtime, files, timeout=120) == "native ok\n"


LOADS = """
from mapdpm_batch import dump
from mapdpm_native import MAPDPM
from sensor import model
print(dump(model()) == dump(model(MAPDPM)), model(MAPDPM).k)
"""


def test_a_model_from_a_laptop_goes_on_in_it(tmp_path):
    files = {**modules("micropython"), **sources(BOARDS, "mapdpm_int.py", "mapdpm_batch.py")}
    rows = np.random.default_rng(0).normal(0, 50, (200, 2)) + 1000 * (np.arange(200) % 3)[:, None]
    q = dpmlite.quantize(rows)
    model = dpmlite.MAPDPM(prior={"c0": 1.0}, random_state=0).fit(q.rows)
    dpmlite.to_micropython(model, tmp_path / "sensor.py", quantized=q)
    files |= sources(tmp_path, "sensor.py")
    assert run("micropython", {**files, "main.py": LOADS}, timeout=60) == "True 3\n"
