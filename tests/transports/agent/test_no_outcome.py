"""A command that does not come to its end says why: by how it ended, and in a sentence. The runner is on paper."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.kernel import KernelError, MailboxFull, in_words
from codec.agent.commands import CommandOrder
from transports.agent.commands import INTERRUPTED, ShellCommands
from transports.process.run import Interrupted, NotKeptOffline, NotStarted, StoppedBefore


class PaperRunner:
    def __init__(self, error: KernelError) -> None:
        self.error = error

    async def run(self, *_: object, **__: object) -> Any:
        await trio.lowlevel.checkpoint()
        raise self.error


@pytest.mark.parametrize(
    ("error", "ended", "why"),
    [
        (StoppedBefore("it was stopped"), "stopped", "It was stopped before it had started."),
        (Interrupted("the launcher has ended"), "interrupted", INTERRUPTED),
        (NotStarted("there is no such program."), "not_started", "There is no such program."),
        (NotKeptOffline("the network cannot be kept away"), "not_started", "The network cannot be kept away."),
        (MailboxFull("it is full"), "not_started", in_words(MailboxFull("it is full")) + "."),
    ],
)
async def test_a_command_that_has_no_outcome_says_how_it_ended_and_why(
    tmp_path: Path, error: KernelError, ended: str, why: str
) -> None:
    runner: Any = PaperRunner(error)
    said: Callable[..., None] = lambda stream, text: None  # noqa: E731
    outcome = await ShellCommands(runner, {}).run(
        CommandOrder("make", str(tmp_path), network=True), said, trio.Event()
    )
    assert (outcome.ended, outcome.exit_code, outcome.why.casefold()) == (ended, None, why.casefold())
    assert (outcome.stdout, outcome.stderr) == ("", "")


async def test_a_folder_that_is_none_of_the_workspace_is_said_and_nothing_is_run(tmp_path: Path) -> None:
    runner: Any = PaperRunner(AssertionError("nothing is to be run"))  # type: ignore[arg-type]
    order = CommandOrder("make", str(tmp_path), folder="none", network=True)
    outcome = await ShellCommands(runner, {}).run(order, lambda stream, text: None, trio.Event())
    assert (outcome.ended, outcome.why) == ("not_started", "none is not there.")
