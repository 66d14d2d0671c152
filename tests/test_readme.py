"""The README is true: its Python runs, and its example output is what the command prints."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cases import needs_kernels

import dpmlite
from dpmlite import cli

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SCRIPTS = sorted(set(re.findall(r"python3\s+([\w/]+\.py)", README)))


def blocks(language):
    """Fenced blocks in one language."""
    fenced = [block.split("\n", 1) for block in README.split("```")[1::2]]
    return [text for first_line, text in fenced if first_line == language]


@needs_kernels
@pytest.mark.parametrize(
    "code",
    [code for code in blocks("python") if not code.startswith("# on the board")],
    ids=[
        "table",
        "scales",
        "kinds",
        "pieces",
        "board",
        "posterior",
        "search",
        "trees",
        "variational",
    ],
)
def test_the_python_runs_and_gives_the_numbers_in_its_comments(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, lines = {}, code.splitlines()
    for statement in ast.parse(code).body:
        source = ast.get_source_segment(code, statement)
        number = re.search(r"# (\d+)$", lines[statement.end_lineno - 1])
        if number:
            assert eval(source, names) == int(number[1]), source
        else:
            exec(source, names)


@needs_kernels
def test_what_it_shows_of_a_board_runs(tmp_path, monkeypatch):
    """On CPython, where mapdpm_int is the same."""
    boards = ROOT / "micropython"
    if not boards.is_dir():
        pytest.skip("the folder micropython is not beside the tests")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(boards)
    monkeypatch.syspath_prepend(tmp_path)
    python = blocks("python")
    (at,) = [i for i, code in enumerate(python) if code.startswith("# on the board")]
    host, board = python[at - 1 : at + 1]
    exec(host, {})
    names = {}
    exec(board, names)
    assert names["label"] == 3  # polishing
    assert sum(names["m"].counts) == 601


@needs_kernels
@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_find_what_they_import(script, tmp_path):
    """As commands, not only where pytest has put their folders on the path."""
    path = ROOT / script
    if not path.exists():
        pytest.skip(f"{script} is not beside the tests")
    start = "import runpy, sys; sys.path[0], path = sys.argv[1:]; runpy.run_path(path)"
    command = [sys.executable, "-c", start, str(path.parent), str(path)]
    subprocess.run(command, check=True, cwd=tmp_path)


@needs_kernels
def test_the_demo_prints_what_is_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo"]) == 0
    shown = next(block for block in blocks("") if "milling machine" in block)
    assert capsys.readouterr().out.startswith(shown)


@needs_kernels
def test_the_prior_it_suggests_is_accepted():
    (suggestion,) = re.findall(r"`(MAPDPM\(prior=.*?\))`", README)
    from dpmlite.datasets import planted_gaussians

    X, _ = planted_gaussians(400, 2, 8, separation=10.0, random_state=2)
    model = eval(suggestion, {"MAPDPM": dpmlite.MAPDPM, "X": X})
    assert model.fit(X).n_clusters_ > dpmlite.MAPDPM(random_state=0).fit(X).n_clusters_
