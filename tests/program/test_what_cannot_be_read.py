"""What ends a replay while it plays, and which files of instructions cannot be read: each in a sentence."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from program import instructions
from program.arguments import Replay
from program.commands.replay import _Player
from program.status import Status
from program.trouble import Trouble
from program.visiting import Means
from tests.program.commands.test_replay_hears import ANSWER, Room


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ([], "the room has ended"),
        ([ANSWER], "the room has ended"),
        ([b"not JSON"], "the server sent something that is not a Sidekick message"),
        ([ANSWER, b"[1]"], "the server sent something that is not a Sidekick message"),
    ],
)
async def test_a_server_that_goes_or_says_what_nobody_understands_ends_what_is_played(
    said: list[bytes], why: str
) -> None:
    command = Replay(Path("x"), None, "http://there", Path("state"), 1.0, None, False)
    player = _Player(command, Means(None, lambda: "id", lambda: 0.0), Status(io.StringIO()))  # type: ignore[arg-type]
    scope = trio.CancelScope()
    await player._hear(Room(*said), scope)
    assert scope.cancel_called
    assert str(player._gone).startswith(why)


def folder(path: Path) -> None:
    path.mkdir()


def too_long(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(instructions.LARGEST + 1)


def no_json(path: Path) -> None:
    path.write_text("{")


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda path: None, "cannot be read: No such file or directory"),
        (folder, "cannot be read: Is a directory"),
        (too_long, "is larger than"),
        (no_json, "is not JSON"),
    ],
)
def test_a_file_of_instructions_that_cannot_be_read_is_named_with_the_reason(
    tmp_path: Path, made: Callable[[Path], None], why: str
) -> None:
    path = tmp_path / "instructions.json"
    made(path)
    with pytest.raises(Trouble) as caught:
        instructions.read(path)
    assert str(caught.value).startswith(f"{path} {why}")
