"""What the server had to begin again, because it ended meanwhile, is labelled so: in the answer, and in the journal."""

from collections.abc import Collection
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from actors.ipc.handlers import CommandContext, KnownCommand
from actors.kernel.testing import run_in_virtual_time
from codec.ipc import Dialect, Failure, Outcome, Request, Success, read_response, write_response
from codec.ipc.response import MOST_BEGUN
from tests.ipc.both_kit import both_ends
from tests.ipc.paper import PaperBase
from tests.ipc.server_kit import state_directory

ENDED = 2
"""Times that the house ends while it runs."""


@pytest.mark.parametrize("times", range(ENDED + 1))
@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("posted", [False, True])
@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
def test_what_was_begun_more_than_once_says_so(dialect: Dialect, posted: bool, fails: bool, times: int) -> None:
    begun: list[float] = []

    async def work(params: Any, context: CommandContext) -> str:
        begun.append(trio.current_time())
        await trio.sleep(5.0)
        if fails:
            raise RuntimeError("busy")
        return "done"

    async def main() -> None:
        base = PaperBase()
        with state_directory() as directory:
            for life in range(times + 1):
                async with both_ends(base, directory, [KnownCommand("work", work)], dialect=dialect) as ends:
                    await trio.sleep(1.0)
                    if life == 0 and posted:
                        await ends.submit(Request(id="a", command="work"))
                    elif life == 0:
                        ends.desk.put("a", "work")
                    await trio.sleep(60.0 if life == times else 2.0)
                    if life == times:
                        dossier = await ends.over("a")
                base.known = True
        attempts = 3 if fails else 1
        assert len(begun) == times + attempts
        told = [note for note in dossier.notes if "may have been done as often" in note]
        how = {0: [], 1: ["attempt 1 was begun twice"], 2: ["attempt 1 was begun 3 times"]}[times]
        assert [sentence in note for sentence, note in zip(how, told, strict=True)] == [True] * len(how)

    run_in_virtual_time(main)


FORMS: list[Collection[Dialect]] = [(each,) for each in Dialect] + [(Dialect.SPEC, Dialect.HEAD)]


@given(st.sampled_from(FORMS), st.sampled_from([Success({"content": "x"}), Failure("no")]), st.integers(1, MOST_BEGUN))
def test_an_answer_says_how_often_it_was_begun(forms: Collection[Dialect], outcome: Outcome, begun: int) -> None:
    data = write_response("a", outcome, forms, begun=begun)
    assert read_response(data, "a").begun == begun
    assert ("troupe" in json.decode(data)) == (begun > 1)


BEGUN = (None, True, "2", 0, -1, 2.5, 10**9)


@pytest.mark.parametrize("junk", [None, 1, "2", [], {}, *({"begun": each} for each in BEGUN)])
def test_junk_in_its_place_is_ignored(junk: object) -> None:
    data = json.encode({"request_id": "a", "status": "success", "data": 1, "troupe": junk})
    response = read_response(data, "a")
    assert (response.begun, response.outcome) == (1, Success(1))
