"""The contenders of the mailbox bench do all the work that is measured."""

import importlib.util

import pytest
import trio

from bench import mailbox
from bench.contenders import batches, shares
from bench.harness import Absent, Peer
from bench.mailbox import CASES, Case


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_all_contenders_finish_the_exercise(case: Case) -> None:
    for side in (mailbox.ours(case), *(peer.side for peer in mailbox.peers(case) if isinstance(peer, Peer))):
        for units in (1, 100):
            with trio.fail_after(60):
                async with side(units) as go:
                    await go()


def test_without_pykka_there_is_a_line_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert list(mailbox.peers(CASES[0]))[-1] == Absent("pykka", mailbox.NO_PYKKA)


async def test_bytes_of_an_actor_are_set_against_what_is_allowed() -> None:
    allowed, bare = await mailbox.bytes_per_actor(20)
    assert (allowed.theirs, allowed.goal, bare.goal) == (mailbox.ALLOWANCE, 1.0, None)
    assert bare.ours == allowed.ours
    assert bare.ours is not None
    assert bare.theirs is not None
    assert bare.ours > bare.theirs > 0


@pytest.mark.parametrize(("whole", "parts"), [(1, 8), (8, 8), (100, 8), (5, 1)])
def test_shares_are_even_and_none_is_empty(whole: int, parts: int) -> None:
    found = list(shares(whole, parts))
    assert sum(found) == whole
    assert len(found) == min(whole, parts)
    assert max(found) - min(found) <= 1


def test_batches_cover_the_whole() -> None:
    assert [list(batch) for batch in batches(5, 2)] == [[0, 1], [2, 3], [4]]
