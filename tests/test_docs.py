"""README, docs/ and the gallery are true: their Python runs, what they name exists."""

import ast
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from cases import needs_kernels

import dpmlite
from dpmlite import cli

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
DOCS = ROOT / "docs"
INDEX = DOCS / "index.md"
MADE = DOCS / "generated"  # by Sphinx
WRITTEN = [page for page in sorted(DOCS.rglob("*.md")) if MADE not in page.parents]
PAGES = [README, ROOT / "CONTRIBUTING.md", *WRITTEN]
GALLERY = sorted((DOCS / "gallery").glob("plot_*.py"))
RESULT = "docs/start/read-the-result.md"
TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
ALL_TEXT = "\n".join(TEXTS.values())
BOARDS = "docs/guide/boards.md"
# What such blocks begin with: they need what blocks before them have made.
GO_ON = ("# on the board", "# on the computer again")

README_AT_MOST = 160  # lines


def blocks(text, language):
    """Fenced blocks in one language."""
    fenced = [block.split("\n", 1) for block in text.split("```")[1::2]]
    return [code for first_line, code in fenced if first_line == language]


def outside_blocks(text):
    return "".join(text.split("```")[::2])


def links(text):
    """Targets of links and images within the repository."""
    targets = re.findall(r"\]\(([^)\s]+)\)", outside_blocks(text))
    return [target for target in targets if "://" not in target]


def anchors(text):
    """Names that GitHub and MyST give to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", outside_blocks(text), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def paths(text):
    """Files and folders that a page names, but for those of an example or a pattern."""
    named = re.findall(r"`((?:dpmlite|tests|asv_benchmarks|micropython|docs|\.ci)/[^`\s]*)`", text)
    return [path for path in named if "my_family" not in path and "PACKAGE" not in path]


def commands():
    """Calls of the command `dpmlite`, without its name."""
    inline = re.findall(r"`(dpmlite \w[^`]*)`", outside_blocks(ALL_TEXT))
    shell = re.findall(r"^(?:.*&& )?(dpmlite \w.*)$", "\n".join(blocks(ALL_TEXT, "sh")), re.M)
    return sorted({call.removeprefix("dpmlite ") for call in inline + shell})


PYTHON = [
    pytest.param(code, id=f"{name}-{i}")
    for name, text in TEXTS.items()
    for i, code in enumerate(blocks(text, "python"), start=1)
    if not code.startswith(GO_ON)
]
SCRIPTS = sorted(set(re.findall(r"python3\s+([\w/]+\.py)", ALL_TEXT)))


@needs_kernels
@pytest.mark.parametrize("code", PYTHON)
def test_the_python_runs_and_gives_the_numbers_in_its_comments(code, tmp_path, monkeypatch):
    if "distributed import" in code:
        pytest.importorskip("dask", reason="needs the extra dpmlite[dask]")
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
@pytest.mark.parametrize("script", GALLERY, ids=lambda script: script.stem)
def test_gallery_pages_run(script):
    """In the script's folder, as sphinx-gallery runs them."""
    environment = os.environ | {"MPLBACKEND": "agg"}
    command = [sys.executable, str(script)]
    subprocess.run(command, check=True, cwd=script.parent, env=environment)


@needs_kernels
def test_what_is_said_to_be_printed_is_printed(capsys):
    (code,) = blocks(TEXTS[RESULT], "python")
    exec(code, {})
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    for shown in blocks(TEXTS[RESULT], ""):
        assert shown.strip() in "\n".join(lines)


@needs_kernels
def test_what_is_shown_of_a_board_runs(tmp_path, monkeypatch, capsys):
    """On CPython, where mapdpm_int is the same."""
    boards = ROOT / "micropython"
    if not boards.is_dir():
        pytest.skip("the folder micropython is not beside the tests")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(boards)
    monkeypatch.syspath_prepend(tmp_path)
    host, board, saved, back, sent, printed = blocks(TEXTS[BOARDS], "python")
    assert all(code.startswith(GO_ON) for code in (board, saved, back, sent, printed))
    ours, names = {}, {}
    exec(host, ours)
    exec(board, names)
    assert names["label"] == 3  # polishing
    assert sum(names["m"].counts) == 601
    exec(saved, names)
    exec(back, ours)
    assert ours["found"].n_samples_seen_ == 602
    exec(sent, names)
    assert sum(names["m"].counts) == 602
    capsys.readouterr()
    exec(printed, names)
    line = capsys.readouterr().out
    assert ours["dpmlite"].from_micropython(line).n_samples_seen_ == 602


@needs_kernels
@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_find_what_they_import(script, tmp_path):
    """As commands, not only where pytest has put their folders on the path."""
    path = ROOT / script
    start = "import runpy, sys; sys.path[0], path = sys.argv[1:]; runpy.run_path(path)"
    command = [sys.executable, "-c", start, str(path.parent), str(path)]
    subprocess.run(command, check=True, cwd=tmp_path)


@pytest.mark.parametrize("call", commands())
def test_the_command_has_the_options_shown(call, capsys):
    name, *words = shlex.split(call)
    with pytest.raises(SystemExit) as end:
        cli.main([name, "--help"])
    assert end.value.code == 0
    known = capsys.readouterr().out
    for option in words:
        assert not option.startswith("--") or option in known, call


def test_extras_that_are_installed_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"\.\[([\w,]+)\]", ALL_TEXT)
    assert {extra for extras in named for extra in extras.split(",")} <= set(
        project["optional-dependencies"]
    )


@needs_kernels
def test_the_demo_prints_what_is_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo"]) == 0
    shown = next(block for block in blocks(ALL_TEXT, "") if "milling machine" in block)
    assert capsys.readouterr().out.startswith(shown)


@needs_kernels
def test_the_prior_it_suggests_is_accepted():
    (suggestion,) = re.findall(r"`(MAPDPM\(prior=\{.*?\))`", ALL_TEXT)
    from dpmlite.datasets import planted_gaussians

    X, _ = planted_gaussians(400, 2, 8, separation=10.0, random_state=2)
    model = eval(suggestion, {"MAPDPM": dpmlite.MAPDPM, "X": X})
    assert (
        model.fit(X).n_clusters_ > dpmlite.MAPDPM(prior="paper", random_state=0).fit(X).n_clusters_
    )


def test_the_readme_is_short():
    assert len(TEXTS["README.md"].splitlines()) <= README_AT_MOST


@pytest.mark.parametrize("name", TEXTS)
def test_paths_that_are_named_exist(name):
    missing = [path for path in paths(TEXTS[name]) if not (ROOT / path).exists()]
    assert missing == []


@pytest.mark.parametrize("name", TEXTS)
def test_links_and_images_exist(name):
    page = ROOT / name
    for link in links(TEXTS[name]):
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link


def test_the_index_lists_every_page():
    listed = {(INDEX.parent / link).resolve() for link in links(INDEX.read_text(encoding="utf-8"))}
    assert {page.resolve() for page in WRITTEN} - {INDEX.resolve()} <= listed
