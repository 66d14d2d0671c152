"""Each runtime prints what CPython prints, reports exceptions and keeps its time limit."""

import time

import pytest
from needs import needs_runtime
from runtimes import RUNTIMES, MainFailed, run


@pytest.fixture(params=RUNTIMES)
def runtime(request: pytest.FixtureRequest) -> str:
    needs_runtime(request.param)
    return request.param


def test_prints_what_main_prints(runtime: str) -> None:
    files = {
        "main.py": "import other\nprint(other.half(-7), open('data.txt').read(), end='')",
        "other.py": "def half(x):\n    return x // 2\n",
        "data.txt": b"some bytes",
    }
    assert run(runtime, files, timeout=20) == "-4 some bytes"


def test_long_output_is_complete(runtime: str) -> None:
    main = "for i in range(500):\n    print(i, 'x' * 70)"
    wanted = "".join(f"{i} {'x' * 70}\n" for i in range(500))
    assert run(runtime, {"main.py": main}, timeout=20) == wanted


def test_an_exception_is_reported_with_the_output(runtime: str) -> None:
    with pytest.raises(MainFailed, match=r"(?s)before.*Traceback.*ValueError: 42"):
        run(runtime, {"main.py": "print('before')\nraise ValueError(42)"}, timeout=20)


def test_main_must_come_to_its_end(runtime: str) -> None:
    with pytest.raises(MainFailed, match="before"):
        run(runtime, {"main.py": "print('before')\nraise SystemExit"}, timeout=20)


def test_time_limit(runtime: str) -> None:
    start = time.monotonic()
    with pytest.raises(TimeoutError, match="more than 1 s"):
        run(runtime, {"main.py": "while True:\n    pass"}, timeout=1)
    assert time.monotonic() - start < 10
