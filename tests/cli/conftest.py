"""What the tests of the command share."""

import pytest

from dpmlite.cli import main


@pytest.fixture(autouse=True)
def _in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys):
    """Run the command; its exit code, lines of output and lines of errors."""

    def run(*argv):
        code = main([str(arg) for arg in argv])
        out, err = capsys.readouterr()
        return code, out.splitlines(), err.splitlines()

    return run


@pytest.fixture
def csv(tmp_path):
    """Write a CSV file; its path."""

    def csv(text):
        path = tmp_path / "data.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return csv
