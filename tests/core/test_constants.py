"""Shared constants: declared to kernels as they are, each of them used, none defined twice."""

import re
from collections import Counter
from pathlib import Path

import pytest

from dpmlite.core import constants

SOURCE = Path(__file__).parents[2] / "dpmlite"
OWN_FILES = {"constants.py", "_constants.pxd"}

CONSTANTS = {name: value for name, value in vars(constants).items() if name.isupper()}
NUMBERS = {name for name, value in CONSTANTS.items() if isinstance(value, int | float)}

#: Text of each other file that may read or define a constant.
TEXTS = {
    path.relative_to(SOURCE).as_posix(): path.read_text("utf-8")
    for path in SOURCE.rglob("*.*")
    if path.suffix in {".py", ".pyx", ".pxd", ".h"} and path.name not in OWN_FILES
}
KERNELS = {path: text for path, text in TEXTS.items() if not path.endswith(".py")}
DECLARATIONS = (SOURCE / "core" / "_constants.pxd").read_text("utf-8")


def words(texts):
    """Names that files read; a header reads LOG_2 as DPM_LOG_2."""
    return {
        word.removeprefix("DPM_") for text in texts.values() for word in re.findall(r"\w+", text)
    }


def test_kernels_declare_the_numbers_that_they_read_each_once():
    declared = re.findall(r'^ +(?:const \w+ )?(\w+) "[^"]*"$', DECLARATIONS, re.MULTILINE)
    assert Counter(declared) == Counter(NUMBERS & words(KERNELS))


def test_a_declared_number_has_its_own_name_and_type():
    pattern = r'^ +(?:const (double|float) )?(\w+) "(?:DPM_(\w+)|\(\(float\) DPM_(\w+)\))"$'
    declarations = re.findall(pattern, DECLARATIONS, re.MULTILINE)
    assert len(declarations) == DECLARATIONS.count('"DPM_') + DECLARATIONS.count("((float) DPM_")
    for kind, name, plain, single in declarations:
        assert name == (single if kind == "float" else plain)
        assert isinstance(CONSTANTS[name], float if kind else int)


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_is_used(name):
    assert name in words(TEXTS)


@pytest.mark.parametrize("name", CONSTANTS)
def test_no_other_file_defines_a_constant_of_this_name(name):
    defines = (
        rf"^\s*(?:cdef )?(?:const )?(?:\w+ )?{name}\s*(?::[^=]*)?= *-?[\d.]|# *define DPM_{name}\b"
    )
    assert [path for path, text in TEXTS.items() if re.search(defines, text, re.MULTILINE)] == []
