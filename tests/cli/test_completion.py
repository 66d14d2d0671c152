"""The script that completes the command's words, run by bash."""

import shlex
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


def completed(script, *words):
    """What bash offers for the last of some words."""
    arrays = f"COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}"
    code = f'{script}{arrays}; _dpmlite; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_words_are_completed(run):
    code, out, err = run("completion")
    assert (code, err) == (0, [])
    script = "\n".join([*out, ""])
    assert completed(script, "dpmlite", "p") == ["predict", "plot"]
    assert "fit" in completed(script, "dpmlite", "")
    assert completed(script, "dpmlite", "fit", "--allow") == ["--allow-missing"]
    assert "--help" in completed(script, "dpmlite", "score", "--")
    assert completed(script, "dpmlite", "score", "--allow") == []
    assert completed(script, "dpmlite", "fit", "--prior", "p") == ["paper"]
    assert completed(script, "dpmlite", "fit", "--prior", "paper", "p") == []  # a file
    assert completed(script, "dpmlite", "fit", "") == []
