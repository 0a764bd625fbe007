"""What a replay makes of what the server says: errors are counted, its answer is heard, the rest is ignored."""

import io
from pathlib import Path

import pytest
import trio

from actors.kernel import PeerGone
from program.arguments import Replay
from program.commands.replay import _Player
from program.status import Status
from program.visiting import Means

ANSWER = b'{"component":"global","type":"announce","payload":{"peerId":"troupe","role":"server"}}'
ANOTHER = b'{"component":"global","type":"announce","payload":{"peerId":"script","role":"hero"}}'
WRONG = b'{"component":"grid","type":"error","src":"g","payload":{"message":"there is no grid"}}'
WORSE = b'{"component":"grid","type":"error","src":"g","payload":{"message":"there is still none"}}'
CLICK = b'{"component":"grid","type":"event","src":"g","payload":{"event":"click","x":1}}'
ODD = [
    CLICK,
    b'{"component":"grid","type":"event","payload":[1,2]}',
    b'{"component":"grid","type":"event","payload":7}',
    b'{"component":"grid","type":"event","payload":{"message":7,"peerId":null}}',
    b'{"type":"event","payload":null}',
    b'{"component":"global","type":"clearAll"}',
    b"{}",
]


class Room:
    """Says this, and ends."""

    def __init__(self, *said: bytes) -> None:
        self._said = list(said)

    async def receive(self) -> bytes:
        await trio.lowlevel.checkpoint()
        if not self._said:
            raise PeerGone("the room has ended")
        return self._said.pop(0)

    async def send(self, message: bytes) -> None: ...


async def heard(*said: bytes) -> _Player:
    command = Replay(Path("x"), None, "http://there", Path("state"), 1.0, None, False)
    player = _Player(command, Means(None, lambda: "id", lambda: 0.0), Status(io.StringIO()))  # type: ignore[arg-type]
    await player._hear(Room(*said), trio.CancelScope())
    return player


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.decode()[:60])
async def test_what_is_no_concern_of_a_replay_does_not_end_it(odd: bytes) -> None:
    player = await heard(odd, WRONG, odd, ANSWER)
    assert str(player._gone) == "the room has ended"
    assert (player._wrong, player._errors) == (1, ["there is no grid"])
    assert player._answered.is_set()


async def test_errors_are_counted_and_the_first_is_told() -> None:
    player = await heard(WRONG, WORSE, WORSE)
    assert (player._wrong, player._errors) == (3, ["there is no grid"])


@pytest.mark.parametrize(("said", "answered"), [([ANSWER], True), ([ANOTHER], False), ([WRONG, CLICK], False)])
async def test_only_the_servers_own_announcement_is_its_answer(said: list[bytes], answered: bool) -> None:
    assert (await heard(*said))._answered.is_set() == answered


@pytest.mark.parametrize("broken", [b"no JSON", b'{"type":7}', b'{"type":"error","payload":[]}'])
async def test_what_is_no_message_of_sidekicks_ends_it_with_a_sentence(broken: bytes) -> None:
    player = await heard(broken, ANSWER)
    assert "the server sent something that is not a Sidekick message" in str(player._gone)
    assert not player._answered.is_set()
