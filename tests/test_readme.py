"""The README is true: its Python runs, and its example output is what the command prints."""

import re
from pathlib import Path

from dpmlite import cli

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def blocks(language):
    """Fenced blocks in one language."""
    fenced = [block.split("\n", 1) for block in README.split("```")[1::2]]
    return [text for first_line, text in fenced if first_line == language]


def test_the_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("python")
    names = {}
    exec(code, names)
    assert names["model"].n_clusters_ == int(re.search(r"n_clusters_ +# (\d+)", code)[1])


def test_the_demo_prints_what_is_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo"]) == 0
    shown = next(block for block in blocks("") if "milling machine" in block)
    assert capsys.readouterr().out.startswith(shown)


def test_the_prior_it_suggests_is_accepted():
    (suggestion,) = re.findall(r"`(MAPDPM\(prior=.*?\))`", README)
    import dpmlite
    from dpmlite.datasets import planted_gaussians

    X, _ = planted_gaussians(400, 2, 8, separation=10.0, random_state=2)
    model = eval(suggestion, {"MAPDPM": dpmlite.MAPDPM, "X": X})
    assert model.fit(X).n_clusters_ > dpmlite.MAPDPM(random_state=0).fit(X).n_clusters_
