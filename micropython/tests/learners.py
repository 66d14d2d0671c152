"""Where the learners are, and their sources as files for a runtime."""

from pathlib import Path

HERE = Path(__file__).parent
BOARDS = HERE.parent


def sources(folder, *names):
    return {name: (folder / name).read_text() for name in names}
