"""How much memory this process has: as the system tells, or else the most that it has had."""

import resource
import sys
from pathlib import Path

import pytest

from program import gauges


def most() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.parametrize("told", [None, "", "7", "7 much 7"])
def test_where_the_system_does_not_tell_it_is_the_most_so_far(
    told: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if told is not None:
        (tmp_path / "statm").write_text(told)
    monkeypatch.setattr(gauges, "_STATM", tmp_path / "statm")
    before = most()
    assert 1 << 20 < before <= gauges.resident_bytes() <= most()


def test_what_the_system_tells_is_in_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "statm").write_text("900 7 5 1 0 2 0\n")
    monkeypatch.setattr(gauges, "_STATM", tmp_path / "statm")
    assert gauges.resident_bytes() == 7 * resource.getpagesize()
