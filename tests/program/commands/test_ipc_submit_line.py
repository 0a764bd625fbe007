"""The line that `troupe ipc submit` rewrites on a terminal: whatever ends it, what is said next has its own line."""

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from codec.ipc import Request
from program.commands.ipc_submit import AT_ONCE, submit
from program.ending import EndedBySignal
from program.ipc_arguments import SubmitAtDesk
from program.trouble import Trouble

CLEARED = "\r\x1b[K"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Ending:
    """A clerk with whom something ends, when so many have been submitted, or while one waits."""

    def __init__(self, end: BaseException, after: int | None) -> None:
        self._end = end
        self._after = after
        self._submitted = 0

    def made(self, command: str, params: dict[str, Any], id: str | None, wishes: Mapping[str, Any]) -> Request:  # noqa: A002
        return Request(id=id or "r1", command=command, params=params)

    def submit(self, requests: Sequence[Request]) -> dict[str, str]:
        self._submitted += len(requests)
        if self._after is not None and self._submitted > self._after:
            raise self._end
        return {}

    def who_is_missing(self) -> str | None:
        return None

    def endings(self, ids: Sequence[str], patience: float | None, until: float | None) -> Iterator[Any]:
        raise self._end
        yield


@pytest.mark.parametrize("end", [Trouble("Nobody is at the desk."), EndedBySignal(2)])
@pytest.mark.parametrize("after", [AT_ONCE, None])
def test_whatever_ends_it_the_line_is_cleared(tmp_path: Path, end: BaseException, after: int | None) -> None:
    listed = ",".join(f'{{"id": {number}, "title": "t"}}' for number in range(AT_ONCE + 1))
    (tmp_path / "run.json").write_text(f"[{listed}]")
    deed = SubmitAtDesk(
        command=None,
        file=tmp_path / "run.json",
        params={},
        id=None,
        run=None,
        submitter=None,
        reference=None,
        priority=0,
        wait=True,
        timeout=None,
        json=False,
    )
    clerk: Any = Ending(end, after)
    err = Terminal()
    with pytest.raises(type(end)):
        submit(deed, clerk, io.StringIO(), err)
    before, cleared, left = err.getvalue().rpartition(CLEARED)
    assert (bool(before), cleared) == (True, CLEARED)
    goes_on = isinstance(end, EndedBySignal) and after is None  # that Ctrl-C cancels nothing is said
    assert left == (f"troupe: {AT_ONCE + 1} requests not over; what is left goes on\n" if goes_on else "")
