"""A program that is to run alone does so, none waits for ever, and between two such programs all others have their
turn."""

from functools import partial

import trio
from hypothesis import example, given
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

from transports.process.run import Now
from transports.process.seclusion import Among, Seclusion


class World:
    def __init__(self, nursery: trio.Nursery) -> None:
        self.nursery = nursery
        self.seclusion = Seclusion()
        self.held: list[Among] = []
        self.on: list[Among] = []
        self.alone: list[trio.Event] = []
        self.waiting: list[trio.CancelScope] = []

    def come(self) -> None:
        run = self.seclusion.among_others(Now())
        self.held.append(run)
        run.come(partial(self._begins, run))

    def _begins(self, run: Among) -> None:
        assert not self.alone
        self.held.remove(run)
        self.on.append(run)

    def over(self, number: int) -> None:
        runs = self.on + self.held
        if runs:
            run = runs[number % len(runs)]
            (self.on if run in self.on else self.held).remove(run)
            run.over()
            run.over()  # said again, it is nothing

    def wish(self, number: int) -> None:
        self.nursery.start_soon(self._wish, number % 3)

    async def _wish(self, owner: int) -> None:
        done = trio.Event()
        with trio.CancelScope() as scope:
            self.waiting.append(scope)
            try:
                async with self.seclusion.alone(owner):
                    assert not self.on
                    assert not self.alone
                    self.waiting.remove(scope)
                    self.alone.append(done)
                    try:
                        await done.wait()
                    finally:
                        self.alone.remove(done)
            finally:
                if scope in self.waiting:
                    self.waiting.remove(scope)

    def give_up(self, number: int) -> None:
        if self.waiting:
            self.waiting[number % len(self.waiting)].cancel()

    def has_been_alone(self) -> None:
        for done in self.alone:
            done.set()


step = st.tuples(st.sampled_from(["come", "over", "wish", "give up", "done"]), st.integers(0, 5))
steps = st.lists(step, max_size=25)


@given(steps)
@example([("come", 0), ("wish", 0), ("come", 0), ("give up", 0)])
@example([("wish", 0), ("wish", 0), ("come", 0), ("done", 0), ("over", 0)])
@example([("come", 0), ("wish", 0), ("over", 0), ("give up", 0), ("come", 0)])
@example([("come", 0), ("wish", 1), ("over", 0), ("give up", 0)])
@example([("come", 0), ("wish", 1), ("come", 0), ("give up", 1)])  # and those who were held up have their turn
@example([("come", 0), ("wish", 1), ("wish", 1), ("come", 0), ("give up", 1)])  # but not while another waits
@example([("come", 0), ("wish", 1), ("give up", 0), ("over", 0), ("come", 1)])  # its turn comes as it leaves
@example([("come", 0), ("wish", 1), ("wish", 1), ("give up", 0), ("over", 0), ("come", 1)])
@example([("wish", 1), ("wish", 1), ("come", 0), ("give up", 1)])  # nor while another is alone
def test_alone_means_alone_and_nobody_waits_for_ever(told: list[tuple[str, int]]) -> None:
    async def main() -> None:
        async with trio.open_nursery() as nursery:
            world = World(nursery)
            for what, number in told:
                match what:
                    case "come":
                        world.come()
                    case "over":
                        world.over(number)
                    case "wish":
                        world.wish(number)
                    case "give up":
                        world.give_up(number)
                    case _:
                        world.has_been_alone()
                if number % 2:  # or what follows comes before anybody has noticed
                    await wait_all_tasks_blocked()
                    assert not (world.on and world.alone)
                    assert not world.held or world.alone or world.waiting
                    assert not world.waiting or world.alone or world.on
            for _ in told:
                await wait_all_tasks_blocked()
                world.has_been_alone()
                if world.on:
                    world.over(0)
            await wait_all_tasks_blocked()
            assert (world.held, world.waiting, world.alone) == ([], [], [])

    trio.run(main)


async def alone(seclusion: Seclusion, said: list[str], name: str) -> None:
    async with seclusion.alone(name):
        said.append(name)
        await wait_all_tasks_blocked()


async def test_between_two_who_are_alone_those_who_were_held_up_have_their_turn() -> None:
    said: list[str] = []
    seclusion = Seclusion()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(alone, seclusion, said, "first")
        await wait_all_tasks_blocked(0.0)
        run = seclusion.among_others(Now())
        nursery.start_soon(alone, seclusion, said, "second")
        run.come(lambda: said.append("held up"))
        await wait_all_tasks_blocked()
        run.over()
    assert said == ["first", "held up", "second"]


async def test_who_is_alone_or_waits_to_be_holds_up_who_comes_and_who_leaves_meanwhile_never_begins() -> None:
    said: list[str] = []
    seclusion = Seclusion()
    done = trio.Event()

    def come(name: str) -> Among:
        run = seclusion.among_others(Now())
        run.come(lambda: said.append(name))
        assert run.begun is (name in said)
        return run

    async def alone() -> None:
        async with seclusion.alone("alone"):
            said.append("alone")
            await done.wait()

    async with trio.open_nursery() as nursery:
        runs = [come("first"), come("second")]
        nursery.start_soon(alone)
        await wait_all_tasks_blocked()
        leaves, stays = come("who leaves"), come("third")
        leaves.over()
        for run in runs:
            assert said == ["first", "second"]
            run.over()
        runs = [come("fourth")]  # its turn to be alone has come, and it does not know yet
        await wait_all_tasks_blocked()
        runs.append(come("fifth"))
        assert said == ["first", "second", "alone"]
        done.set()
    assert said == ["first", "second", "alone", "third", "fourth", "fifth"]
    for run in (stays, *runs):
        run.over()
    async with seclusion.alone("last"):  # nobody is on: it comes at once
        pass


async def test_of_those_who_wait_to_be_alone_the_owners_take_turns() -> None:
    said: list[str] = []
    seclusion = Seclusion()

    async with trio.open_nursery() as nursery:
        run = seclusion.among_others(Now())
        run.come(lambda: None)
        for owner in "aaaaabcbc":
            nursery.start_soon(alone, seclusion, said, owner)
            await wait_all_tasks_blocked()
        run.over()
    assert "".join(said) == "abcabcaaa"
