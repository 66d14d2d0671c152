"""What ends a computation between two of its steps."""

from dpmlite.core import stop
from dpmlite.core.stop import Stop


def test_the_first_reason_counts():
    end = Stop()
    assert (end.is_set(), end.reason) == (False, None)
    end.set("callback")
    end.set()
    assert (end.is_set(), end.reason) == (True, "callback")


def test_the_time_counts_from_the_beginning(monkeypatch):
    now = 100.0
    monkeypatch.setattr(stop, "monotonic", lambda: now)
    end = Stop(max_seconds=2.0)
    now = 101.9
    assert not end.is_set()
    now = 102.0
    assert end.is_set()
    assert end.reason == "max_seconds"


def test_a_limit_is_no_reason_before_anybody_asks(monkeypatch):
    now = 100.0
    monkeypatch.setattr(stop, "monotonic", lambda: now)
    end = Stop(max_seconds=2.0)
    now = 200.0
    assert end.reason is None
