"""`troupe ipc submit FILE.json` where ids are taken: all others are submitted, whatever group they are in."""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from codec.ipc import Request
from program.commands.ipc_submit import AT_ONCE, submit
from program.ipc_arguments import SubmitAtDesk
from program.trouble import WRONGLY_ASKED, Trouble

MANY = 2 * AT_ONCE + 50


class Ended(Struct):
    id: str
    ok: bool = True
    data: object = 7
    error: str = ""
    attempts: tuple[()] = ()


class Keeping:
    """A clerk at whose desk some ids are taken."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self.kept: list[str] = []
        self.waited: list[str] = []

    def made(self, command: str, params: dict[str, Any], id: str | None, wishes: Mapping[str, Any]) -> Request:  # noqa: A002
        return Request(id=id or "r1", command=command, params=params)

    def submit(self, requests: Sequence[Request]) -> dict[str, str]:
        self.kept += [each.id for each in requests if each.id not in self._taken]
        return {each.id: f"There is a request {each.id} already" for each in requests if each.id in self._taken}

    def who_is_missing(self) -> str | None:
        return None

    def endings(self, ids: Sequence[str], patience: float | None, until: float | None) -> Iterator[Any]:
        self.waited += ids
        yield from map(Ended, ids)


def asked(file: Path | None, *, wait: bool, as_json: bool) -> SubmitAtDesk:
    return SubmitAtDesk(
        command=None if file else "ping",
        file=file,
        params={},
        id=None,
        run=None,
        submitter=None,
        reference=None,
        priority=0,
        wait=wait,
        timeout=None,
        json=as_json,
    )


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize(
    "taken",
    [{0}, {AT_ONCE - 1}, {AT_ONCE}, {MANY - 1}, {3, AT_ONCE + 3, 2 * AT_ONCE + 3}, set(range(MANY)), set()],
    ids=["first", "end of a group", "next group", "last", "each group", "all", "none"],
)
def test_all_others_are_submitted_and_the_taken_ones_named(
    tmp_path: Path, taken: set[int], wait: bool, as_json: bool
) -> None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps([{"id": number, "title": "t"} for number in range(MANY)]))
    clerk: Any = Keeping({f"run-{number}" for number in taken})
    out, err = io.StringIO(), io.StringIO()
    assert submit(asked(file, wait=wait, as_json=as_json), clerk, out, err) == (1 if taken else 0)
    others = [f"run-{number}" for number in range(MANY) if number not in taken]
    assert clerk.kept == others
    assert clerk.waited == (others if wait else [])
    said = [f"run-{number}: There is a request run-{number} already" for number in sorted(taken)]
    if as_json:
        lines = [json.loads(line) for line in out.getvalue().splitlines()]
        assert [f"{each['id']}: {each['error']}" for each in lines if "error" in each] == said
        assert [each["id"] for each in lines if "error" not in each] == others
        assert all(each["ok"] == ("error" not in each) for each in lines if wait)
        never_tried = {"ok": False, "attempts": 0} if wait else {}
        for each in lines:
            if "error" in each:
                assert each == {"id": each["id"], "error": each["error"]} | never_tried
    else:
        named = [line for line in err.getvalue().splitlines() if "was not submitted" in line]
        assert named == [f"troupe: {each.replace(':', ' was not submitted:', 1)}" for each in said]
        assert [line.split()[0] for line in out.getvalue().splitlines()] == others


def test_a_single_one_that_is_taken_was_asked_wrongly() -> None:
    clerk: Any = Keeping({"r1"})
    with pytest.raises(Trouble, match="There is a request r1 already") as said:
        submit(asked(None, wait=True, as_json=False), clerk, io.StringIO(), io.StringIO())
    assert said.value.code == WRONGLY_ASKED
