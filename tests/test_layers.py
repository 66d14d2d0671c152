"""Imports and cimports run downwards: from a package to those before it, and never in a circle."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "dpmlite"

#: Packages and top modules from the bottom up. Those of one line do not import each other.
LAYERS = (
    ("core",),
    ("families",),
    ("partition",),
    ("sweeps",),
    ("moves",),
    ("algorithms",),
    ("joining",),
    ("search",),
    ("distributed",),
    ("tables",),
    ("estimators",),
    ("boards", "dask", "datasets", "diagnostics", "plotting", "teaching"),
    ("",),  # dpmlite itself, which offers all that people call
    ("cli",),
    ("__main__",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

#: Folders of `estimators` from the bottom up, and its own files. Those of one line may import each
#: other.
ROOMS = (
    ("inputs",),
    ("empirical_bayes",),
    ("priors",),
    ("column_families",),
    ("fitted",),
    ("model_files",),
    ("default_model",),
    ("bases",),
    ("hierarchical", "map_dpm", "sampling"),
    ("",),
)
ROOM_RANK = {name: rank for rank, names in enumerate(ROOMS) for name in names}

FILES = sorted(path for path in SOURCE.rglob("*.p*") if path.suffix in {".py", ".pyx", ".pxd"})


def module_of(path):
    """`families._student_t` of `dpmlite/families/_student_t.pxd`; a package for its `__init__`."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path) for path in FILES}


def imports_of(path):
    """Modules of dpmlite that a file imports or cimports, wherever in it, also for types alone."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dpmlite":
                yield from targets(node.module, [alias.name for alias in node.names])
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.startswith("dpmlite."):
                        yield alias.name.removeprefix("dpmlite.")
        return
    pattern = r"^ *from (dpmlite[\w.]*) c?import (\([^)]*\)|[^\n]*)"
    for package, names in re.findall(pattern, text, re.MULTILINE):
        yield from targets(package, re.findall(r"\w+", names))


def targets(package, names):
    """The modules that `from package import names` reads."""
    inner = package.removeprefix("dpmlite").removeprefix(".")
    for name in names:
        module = f"{inner}.{name}".removeprefix(".")
        yield module if module in MODULES else inner


def layer(module):
    return module.split(".")[0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_imports_run_downwards(path):
    here = layer(module_of(path))
    for module in imports_of(path):
        there = layer(module)
        assert there == here or RANK[there] < RANK[here], f"{path.name} imports {module}"


def room(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and (SOURCE / "estimators" / parts[1]).is_dir() else ""


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if layer(module_of(path)) == "estimators"],
    ids=lambda path: path.relative_to(SOURCE / "estimators").as_posix(),
)
def test_imports_within_estimators_run_downwards(path):
    here = room(module_of(path))
    for module in imports_of(path):
        if layer(module) == "estimators":
            there = room(module)
            assert ROOM_RANK[there] <= ROOM_RANK[here], f"{path.name} imports {module}"


def test_no_modules_import_each_other_in_a_circle():
    graph = {module: set() for module in MODULES}
    for path in FILES:
        module = module_of(path)
        graph[module] |= {found for found in imports_of(path) if found != module}
    while graph:
        leaves = {module for module, needed in graph.items() if not needed & graph.keys()}
        assert leaves, f"a circle among {sorted(graph)}"
        graph = {module: needed for module, needed in graph.items() if module not in leaves}


def test_the_packages_are_those_of_the_layers():
    assert {layer(module) for module in MODULES} == set(RANK)
    assert {room(each) for each in MODULES if layer(each) == "estimators"} == set(ROOM_RANK)


@pytest.mark.parametrize("name", ["_slots", "_family", "_component", "component"])
def test_what_all_families_share_knows_none_of_them(name):
    """A capability of one family, such as screening, is in a class of its own."""
    families = {module for module in MODULES if module.startswith("families.")}
    shared = {"_slots", "_family", "_component", "_normal_columns", "_slot_vectors"}
    for path in FILES:
        if module_of(path) == f"families.{name}":
            assert set(imports_of(path)) & families <= {f"families.{each}" for each in shared}


TABLES_OF_FILES = [
    path for path in FILES if re.search(r"^file +has$", path.read_text("utf-8"), re.M)
]


@pytest.mark.parametrize("path", TABLES_OF_FILES, ids=lambda path: path.parent.name)
def test_a_table_of_the_files_of_a_folder_has_each_once(path):
    table = path.read_text("utf-8").split("=\nfile ")[1].split('"""')[0]
    rows = [line.split("  ")[0] for line in table.splitlines() if line.startswith("`")]
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    files = {other.stem for other in path.parent.glob("*.py")} - {"__init__"}
    assert sorted(named) == sorted(files)
