"""The script that repeats all papers: it has every experiment, and its page has what they made."""

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def everything():
    """The module that `python3 tests/papers` runs."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("all_papers", HERE / "__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_script_is_run(everything):
    scripts = {
        path.stem
        for path in HERE.glob("*.py")
        if re.search("^if __name__", path.read_text("utf-8"), re.M) and path.stem != "__main__"
    }
    assert scripts == set(everything.EXPERIMENTS)


def test_every_picture_that_a_script_draws_has_a_caption(everything):
    for name, experiment in everything.EXPERIMENTS.items():
        text = (HERE / f"{name}.py").read_text("utf-8")
        for literal in strings_of(text):
            if match := re.fullmatch(r"([\w-]+)\.png", literal):
                assert match[1] in experiment.pictures, name
        for picture in experiment.pictures:
            assert re.split(r"-(?=\d|wide|chosen)", picture)[0] in text, picture


def strings_of(source):
    return {
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_the_page_shows_tables_pictures_and_failures(everything, tmp_path):
    (tmp_path / "crp_experiment.txt").write_text("| NMI | <0.71> |", "utf-8")
    (tmp_path / "crp-figure-3.png").write_bytes(b"")
    (tmp_path / "uci_experiment.txt").write_text("", "utf-8")
    (tmp_path / "uci_experiment.error").write_text("MissingTableError: set DPMLITE_DATA", "utf-8")
    text = everything.page(everything.PAPERS, tmp_path)
    assert "<pre>| NMI | &lt;0.71&gt; |</pre>" in text
    assert text.count("<img") == 1
    assert "<img src='crp-figure-3.png'" in text
    assert "It ended early: MissingTableError: set DPMLITE_DATA" in text
    assert "Daumé" not in text


def test_a_script_that_fails_leaves_the_others_alone(everything, tmp_path, monkeypatch):
    monkeypatch.setattr(everything, "HERE", tmp_path)
    (tmp_path / "uci_experiment.py").write_text("print('a table')", "utf-8")
    (tmp_path / "daume_nips.py").write_text("print(1)\nraise OSError('no table')", "utf-8")
    assert everything.main(tmp_path / "out", ["daume_nips", "uci_experiment"]) == 1
    text = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert "<pre>a table\n</pre>" in text
    assert "It ended early: OSError: no table" in text
    with pytest.raises(ValueError, match="SCRIPT must be one of crp_experiment"):
        everything.main(tmp_path, ["nips"])
