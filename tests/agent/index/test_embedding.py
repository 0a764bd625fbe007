"""The vectors of an index are asked for one filling at a time, and a model that fails after longer and longer times."""

from collections.abc import Awaitable, Callable
from typing import Any

from actors.agent.index.embedding import AGAIN_SECONDS, LONGEST_AGAIN, Embedding
from codec.agent.index.telling import IndexFacts
from tests.agent.index.indexer_kit import PaperIndex


class PaperTimer:
    def __init__(self) -> None:
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class PaperTasks:
    """What is to be run beside an actor, and which timers it has set: the test says when."""

    def __init__(self) -> None:
        self.index = PaperIndex()
        self.tasks: list[Callable[[], Awaitable[object]]] = []
        self.naps: list[float] = []
        self.timer = PaperTimer()
        """The last one."""
        self.said: list[IndexFacts | None] = []
        self.wanted_meanwhile = 0
        """How often vectors are wanted when this is said for the first time."""
        self.embedding = Embedding(self, self.index, self._said, self._later)

    def run_beside(self, task: Callable[[], Awaitable[object]], /) -> None:
        self.tasks.append(task)

    def _said(self, facts: IndexFacts | None) -> None:
        self.said.append(facts)
        for _ in range(self.wanted_meanwhile):
            self.embedding.want()
        self.wanted_meanwhile = 0

    def _later(self, seconds: float) -> Any:
        self.naps.append(seconds)
        self.timer = PaperTimer()
        return self.timer

    async def run(self) -> None:
        """The only one that is to be run."""
        (task,) = self.tasks
        self.tasks.clear()
        await task()


async def test_a_model_that_fails_is_asked_again_after_longer_times_and_no_sooner_if_somebody_wants_it() -> None:
    here = PaperTasks()
    embedding = here.embedding
    here.index.embed_trouble = "It is away."
    embedding.want()
    for _ in range(8):
        assert embedding.runs
        await here.run()
        assert (embedding.runs, embedding.trouble, here.said.pop()) == (False, "It is away.", None)
        embedding.want()
        assert here.tasks == []
        embedding.again()
    assert here.naps == [*(AGAIN_SECONDS * 2**times for times in range(6)), LONGEST_AGAIN, LONGEST_AGAIN]
    here.index.embed_trouble = ""
    await here.run()
    assert (embedding.runs, embedding.trouble, here.said) == (False, "", [here.index.facts_now])
    here.index.embed_trouble = "Away again."
    embedding.want()
    await here.run()
    assert here.naps[8:] == [AGAIN_SECONDS], "after a success it begins anew"


async def test_a_model_that_fails_is_asked_at_once_and_as_often_as_at_first_after_a_rebuild() -> None:
    here = PaperTasks()
    here.embedding.forget_failures()
    assert here.tasks == [], "nothing was wanted"
    here.index.embed_trouble = "It is away."
    here.embedding.want()
    for _ in range(3):
        await here.run()
        here.embedding.again()
    await here.run()
    here.embedding.forget_failures()
    assert here.timer.cancelled
    await here.run()
    assert here.naps == [AGAIN_SECONDS, 2 * AGAIN_SECONDS, 4 * AGAIN_SECONDS, 8 * AGAIN_SECONDS, AGAIN_SECONDS]


async def test_only_more_vectors_show_that_a_model_does_not_fail_any_more() -> None:
    here = PaperTasks()
    here.index.vectors, here.index.embed_seconds = 2, 0.0
    here.embedding.want()
    await here.run()
    for had, waits in ((2, AGAIN_SECONDS), (1, 2 * AGAIN_SECONDS), (2, AGAIN_SECONDS)):
        here.index.vectors, here.index.fails_after = 2 * had, "It is away."
        here.embedding.again()
        await here.run()
        assert here.naps.pop() == waits


async def test_what_comes_while_vectors_are_made_is_one_more_filling_after_them() -> None:
    here = PaperTasks()
    here.index.vectors, here.index.embed_seconds = 2, 0.0
    here.wanted_meanwhile = 3
    here.embedding.want()
    await here.run()
    assert (here.index.embedded, here.embedding.runs, here.tasks, here.naps) == (2, False, [], [])
    assert [facts and facts.vectors for facts in here.said] == [1, 2] * 2
    here.embedding.want()
    await here.run()
    assert here.index.embedded == 3
