"""A server that was started with signals ignored, as `nohup` does it with SIGHUP, and a script's `&` with SIGINT."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.house.running import server


@contextmanager
def ignoring(*numbers: signal.Signals) -> Iterator[None]:
    """Here, and in what is started meanwhile."""
    before = [signal.signal(each, signal.SIG_IGN) for each in numbers]
    try:
        yield
    finally:
        for each, handler in zip(numbers, before, strict=True):
            signal.signal(each, handler)


@pytest.mark.slow
@pytest.mark.parametrize("ignored", [(signal.SIGHUP,), (signal.SIGINT,), (signal.SIGHUP, signal.SIGINT)])
def test_what_it_was_told_to_ignore_does_not_end_it_and_sigterm_does(
    ignored: tuple[signal.Signals, ...], tmp_path: Path
) -> None:
    with ignoring(*ignored), server(tmp_path, cold=True) as house:
        house.ready()
        for each in ignored:
            house.process.send_signal(each)
        assert house.get("/health").status_code == 200
        assert house.stop(by=signal.SIGTERM) == 0
    assert "SIGTERM" in house.said
    assert not [each.name for each in ignored if each.name in house.said]
    assert "Traceback" not in house.said
