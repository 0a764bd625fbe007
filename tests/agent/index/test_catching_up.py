"""An answer lacks nothing that was known when its question came, or it says so; and nobody waits in vain."""

from collections.abc import Callable
from random import Random

import pytest
import trio
from trio.testing import MockClock

from actors.agent.index.catching_up import BEHIND, PATIENCE, CatchingUp
from actors.agent.index.changes import Changes


class Story:
    """An index whose updates, changes and questions come in a drawn order."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.changes = Changes()
        self.catching_up = CatchingUp(self.changes)
        self.told: set[str] = set()
        self.read: set[str] = set()
        """What ended updates have brought."""
        self.trouble = ""

    async def run(self) -> None:
        self.catching_up.opened(complete=True)
        while True:
            await trio.sleep(self.random.uniform(0.001, 1.0))
            if not self.changes:
                continue
            wish = self.changes.taken()
            self.catching_up.begins()
            await trio.sleep(self.random.choice([0.01, 0.2, 3.0]))
            how = self.random.random()
            if how < 0.1:
                self.changes.back(wish, quiet=True)
                self.catching_up.breaks_off()
            elif how < 0.2:
                self.changes.back(wish, quiet=True)
                self.trouble = "The disk is full."
                self.catching_up.fails(self.trouble)
            else:
                self.read |= set(wish.paths or ())
                self.trouble = ""
                self.catching_up.ends(complete=True)

    async def change(self) -> None:
        for number in range(60):
            await trio.sleep(self.random.uniform(0.0, 0.8))
            self.told.add(str(number))
            self.changes.told([str(number)])

    async def ask(self) -> None:
        for _ in range(60):
            await trio.sleep(self.random.uniform(0.0, 0.8))
            known = set(self.told)
            began = trio.current_time()
            behind = await self.catching_up.behind()
            assert trio.current_time() - began <= PATIENCE + 1e-6
            if not behind:
                assert known <= self.read
            elif behind != BEHIND:
                assert behind.endswith(self.trouble or "The disk is full.")


@pytest.mark.parametrize("seed", range(12))
async def test_an_answer_that_says_nothing_has_all_that_was_told_before_its_question(
    autojump_clock: MockClock, seed: int
) -> None:
    story = Story(Random(seed))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(story.run)
        async with trio.open_nursery() as those:
            for each in (story.change, story.ask, story.ask):
                those.start_soon(each)
        nursery.cancel_scope.cancel()


async def took(catching_up: CatchingUp) -> tuple[str, float]:
    began = trio.current_time()
    return await catching_up.behind(), trio.current_time() - began


Happens = Callable[[CatchingUp], None]
LATER = PATIENCE / 4


def ends(catching_up: CatchingUp) -> None:
    catching_up.ends(complete=True)


def turns_out_to_be_made_anew(catching_up: CatchingUp) -> None:
    catching_up.ends(complete=False)


def fails(catching_up: CatchingUp) -> None:
    catching_up.fails("The disk is full.")


def breaks_off(catching_up: CatchingUp) -> None:
    catching_up.breaks_off()


@pytest.mark.parametrize(
    ("happens", "said"),
    [(ends, ""), (turns_out_to_be_made_anew, ""), (fails, "This may not be as the disk is now. The disk is full.")],
)
async def test_all_who_wait_for_an_update_are_answered_in_the_moment_in_which_it_is_over(
    autojump_clock: MockClock, happens: Happens, said: str
) -> None:
    catching_up = CatchingUp(Changes())
    catching_up.opened(complete=True)
    catching_up.begins()
    answers = []

    async def ask(after: float) -> None:
        await trio.sleep(after)
        answers.append(await took(catching_up))

    async with trio.open_nursery() as nursery:
        for after in (0.0, LATER / 2):
            nursery.start_soon(ask, after)
        await trio.sleep(LATER)
        happens(catching_up)
    assert sorted(answers) == [(said, LATER / 2), (said, LATER)]


async def test_whoever_asks_before_the_index_is_opened_is_answered_when_that_turns_out_to_be_made_anew(
    autojump_clock: MockClock,
) -> None:
    changes = Changes()
    catching_up = CatchingUp(changes)
    changes.told_all()
    async with trio.open_nursery() as nursery:

        async def ask() -> None:
            assert await took(catching_up) == ("", LATER)

        nursery.start_soon(ask)
        await trio.sleep(LATER)
        catching_up.opened(complete=False)


@pytest.mark.parametrize("is_over", [ends, breaks_off])
async def test_a_question_has_all_its_patience_for_an_update_that_has_not_begun(
    autojump_clock: MockClock, is_over: Happens
) -> None:
    """However long the one before it took."""
    changes = Changes()
    catching_up = CatchingUp(changes)
    catching_up.opened(complete=True)
    catching_up.begins()
    await trio.sleep(2 * PATIENCE)
    is_over(catching_up)
    changes.told(["a"])
    assert await took(catching_up) == (BEHIND, PATIENCE)


async def test_nobody_waits_for_an_index_that_is_being_made_or_cannot_be_made_or_for_what_takes_long(
    autojump_clock: MockClock,
) -> None:
    changes = Changes()
    catching_up = CatchingUp(changes)
    assert await took(catching_up) == ("", 0), "nothing is known to have changed"
    changes.told_all()
    assert await took(catching_up) == (BEHIND, PATIENCE), "it is not known whether it is complete"
    catching_up.opened(complete=False)
    assert await took(catching_up) == ("", 0), "it is being made: whoever asks knows that by the findings"
    catching_up.opened(complete=True)
    changes.taken()
    catching_up.begins()
    await trio.sleep(PATIENCE / 4)
    said, seconds = await took(catching_up)
    assert (said, round(seconds, 6)) == (BEHIND, PATIENCE * 3 / 4)
    assert await took(catching_up) == (BEHIND, 0), "it has taken that long already"
    catching_up.fails("The disk is full.")
    assert await took(catching_up) == ("This may not be as the disk is now. The disk is full.", 0)
    catching_up.begins()
    catching_up.ends(complete=True)
    assert await took(catching_up) == ("", 0)
