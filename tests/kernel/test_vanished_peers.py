"""A counterpart that vanishes while its actor is about to end: no failure, whichever of the two came first."""

from collections.abc import Callable

import pytest
import trio

from actors.kernel import ActorRef, PeerGone, Restart, Why, supervisor_spec
from actors.kernel.testing import Act, House, Puppet, PuppetActor, block, crash, staged

GONE = PeerGone("the page was closed")
BUG = ValueError("a bug")


def breaks_when_cancelled(error: Exception) -> Act:
    """What a library does whose connection breaks under a send that is being cancelled."""

    async def act(puppet: PuppetActor) -> None:
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            raise error from None

    return act


def beside(error: Exception) -> Act:
    async def task() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise error

    return lambda puppet: puppet.run_beside(task)


def in_a_handler(puppet: Puppet, ref: ActorRef[object], error: Exception) -> None:
    ref.tell(breaks_when_cancelled(error))


def in_its_last_words(puppet: Puppet, ref: ActorRef[object], error: Exception) -> None:
    puppet.on_stop = [crash(error)]
    ref.tell(block())


def in_a_task_beside(puppet: Puppet, ref: ActorRef[object], error: Exception) -> None:
    ref.tell(beside(error))


def everywhere(puppet: Puppet, ref: ActorRef[object], error: Exception) -> None:
    in_a_task_beside(puppet, ref, error)
    puppet.on_stop = [crash(error)]
    in_a_handler(puppet, ref, error)


@pytest.mark.parametrize("where", [in_a_handler, in_its_last_words, in_a_task_beside, everywhere])
@pytest.mark.parametrize(
    ("error", "why", "crashes"),
    [
        pytest.param(GONE, Why.SHUTDOWN, 0, id="gone"),
        pytest.param(ExceptionGroup("both", [GONE, GONE]), Why.SHUTDOWN, 0, id="a group of such"),
        pytest.param(BUG, Why.CRASHED, 1, id="bug"),
        pytest.param(ExceptionGroup("both", [GONE, BUG]), Why.CRASHED, 1, id="a bug among them"),
    ],
)
async def test_one_who_is_asked_to_stop_has_not_failed_if_its_peer_vanishes_meanwhile(
    where: Callable[[Puppet, ActorRef[object], Exception], None], error: Exception, why: Why, crashes: int
) -> None:
    puppet = Puppet("page")
    async with staged(puppet.spec(restart=Restart.TEMPORARY)) as house:
        ref = house["page"]
        where(puppet, ref, error)
        await trio.sleep(1)
        stop = await ref.stop()
        assert (stop.why, len(house.stage.crashes)) == (why, crashes)
        assert ref.statistics().crashes == crashes


@pytest.mark.parametrize(("error", "why"), [(GONE, Why.PEER_GONE), (BUG, Why.CRASHED)])
async def test_a_bug_in_the_last_words_to_a_vanished_peer_is_a_failure(error: Exception, why: Why) -> None:
    puppet = Puppet("page")
    async with staged(puppet.spec(restart=Restart.TEMPORARY)) as house:
        ref = house["page"]
        puppet.on_stop = [crash(error)]
        ref.tell(crash(GONE))
        assert (await ref.wait_stopped()).why is why
        assert len(house.stage.crashes) == (why is Why.CRASHED)


# -- what is said to a page that was closed


def left(puppet: Puppet, ref: ActorRef[object]) -> None:
    """The block that owns the connection is left."""


def vanished(puppet: Puppet, ref: ActorRef[object]) -> None:
    puppet.on_stop = [crash(GONE)]


def failed(puppet: Puppet, ref: ActorRef[object]) -> None:
    puppet.on_stop = [crash(BUG)]


@pytest.mark.parametrize(("end", "letters"), [(left, 0), (vanished, 0), (failed, 2)])
async def test_what_a_closed_page_has_not_heard_is_nobodys_loss_unless_it_failed(
    end: Callable[[Puppet, ActorRef[object]], None], letters: int
) -> None:
    puppet = Puppet("page", grace=1.0)
    async with staged(supervisor_spec("pages", max_children=9)) as house:
        async with house["pages"].lease(puppet.spec()) as page:
            end(puppet, page)
            page.tell(block())
            await trio.sleep(1)
            page.tell("waits in its mailbox")
        page.tell("comes too late")
        told(house, letters)


async def test_what_an_actor_without_a_connection_has_not_heard_is_a_dead_letter() -> None:
    puppet = Puppet("clerk", grace=1.0)
    async with staged(puppet.spec()) as house:
        clerk = house["clerk"]
        clerk.tell(block())
        await trio.sleep(1)
        clerk.tell("waits in its mailbox")
        await clerk.stop()
        clerk.tell("comes too late")
        told(house, 2)


def told(house: House, letters: int) -> None:
    assert house.stage.statistics().dead_letters == letters
    assert len(house.trace.of("dead")) == letters
