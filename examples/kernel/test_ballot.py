"""The ballot under a clock that jumps: a minute takes no time, and every run is the same."""

import trio
from ballot import OPEN_SECONDS, Total, Vote, ballot_spec

from actors.kernel import Stop, Why
from actors.kernel.testing import run_in_virtual_time, staged


def test_a_spoilt_vote_costs_no_other() -> None:
    async def main() -> None:
        async with staged(ballot_spec()) as house:
            ballot = house["ballot"]
            for name in ("Ada", "", "Grace"):
                ballot.tell(Vote(name))
            assert await ballot.ask(Total, timeout=5.0) == 2
            assert ballot.statistics().restarts == 1
            assert (await house.trace.stop("top/ballot")).why is Why.CRASHED

    run_in_virtual_time(main)


def test_a_ballot_closes_after_its_time() -> None:
    async def main() -> None:
        async with staged(ballot_spec()) as house:
            opened = trio.current_time()
            assert await house["ballot"].wait_stopped() == Stop(Why.DONE)
            assert trio.current_time() == opened + OPEN_SECONDS

    run_in_virtual_time(main)
