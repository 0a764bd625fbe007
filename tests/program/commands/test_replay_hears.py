"""What a replay makes of what the server says: errors are counted, its answer is heard, the rest is ignored."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import trio
from trio.testing import MockClock

from actors.kernel import PeerGone
from program.arguments import Replay
from program.commands.replay import ANSWER_WITHIN, BAR, Survey, Tempo, _Player
from program.reel import Reel
from program.status import Status
from program.trouble import Trouble
from program.visiting import Finish, Means

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


def made(file: Path | None = Path("x"), *, loop: bool = False, status: io.StringIO | None = None) -> _Player:
    command = Replay(file, None, "http://there", Path("state"), 1.0, None, loop)
    return _Player(command, Means(None, lambda: "id", lambda: 0.0), Status(status or io.StringIO()))  # type: ignore[arg-type]


async def heard(*said: bytes) -> _Player:
    player = made()
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


async def test_a_server_that_does_not_answer_is_waited_for_so_long(autojump_clock: MockClock) -> None:
    player, began = made(), trio.current_time()
    with pytest.raises(Trouble) as trouble:
        await player._ask(Room(), Finish())
    assert trio.current_time() - began == ANSWER_WITHIN
    assert str(trouble.value) == ("The server has not answered for 30 seconds, after 0 messages; is it a Troupe?")
    asked_to_stop = Finish()
    asked_to_stop.ask()
    await player._ask(Room(), asked_to_stop)
    assert trio.current_time() - began == ANSWER_WITHIN


@pytest.mark.parametrize(
    ("survey", "sent", "seconds", "line"),
    [
        (None, 1, 59.96, "60.0 s  1 message"),
        (None, 2_000, 60.0, "1:00 min  2,000 messages"),
        (Survey(4, 8.0), 0, 0.0, f"{'─' * BAR}  0.0 s of 8.0 s  0 of 4 messages"),
        (Survey(4, 8.0), 3, 4.0, f"{'━' * (BAR // 2)}{'─' * (BAR // 2)}  4.0 s of 8.0 s  3 of 4 messages"),
        (Survey(4, 8.0), 4, 9.0, f"{'━' * BAR}  9.0 s of 8.0 s  4 of 4 messages"),
        (Survey(4, 0.0), 1, 3.0, f"{'━' * (BAR // 4)}{'─' * (BAR - BAR // 4)}  3.0 s of 0.0 s  1 of 4 messages"),
        (Survey(0, 0.0), 0, 3.0, f"{'━' * BAR}  3.0 s of 0.0 s  0 of 0 messages"),
    ],
)
def test_a_bar_shows_how_much_of_the_time_is_over_or_else_of_the_messages(
    survey: Survey | None, sent: int, seconds: float, line: str
) -> None:
    player = made()
    player._survey, player._sent = survey, sent
    assert player._progress(seconds) == line


@pytest.mark.parametrize(
    ("file", "loop", "stopped", "wrong", "torn", "said"),
    [
        (Path("x"), False, False, 0, None, "Replayed 3 messages into room demo in 2.0 s"),
        (Path("x"), False, True, 0, None, "Stopped after 3 of 1,234 messages, 2.0 s of room demo"),
        (Path("x"), True, True, 0, None, "Replayed 3 messages into room demo in 2.0 s"),
        (None, False, True, 0, None, "Replayed 3 messages into room demo in 2.0 s"),
        (
            Path("x"), False, False, 1, None,
            "Replayed 3 messages into room demo in 2.0 s; 1 error came back, the first of them: no grid",
        ),
        (
            Path("x"), False, True, 2, 9,
            "Stopped after 3 of 1,234 messages, 2.0 s of room demo; 2 errors came back, the first of them: no grid; "
            "line 9 of the file is cut off and was left out",
        ),
    ],
)  # fmt: skip
async def test_at_the_end_it_says_what_was_drawn_and_what_was_not(
    file: Path | None, loop: bool, stopped: bool, wrong: int, torn: int | None, said: str, autojump_clock: MockClock
) -> None:
    player, stop = made(file, loop=loop), Finish()
    player._survey, player._sent, player._wrong, player._errors = Survey(1_234, 5.0), 3, wrong, ["no grid"]
    player._began = trio.current_time() - 2.0
    if stopped:
        stop.ask()
    reel = cast("Reel", SimpleNamespace(torn=torn, name="the file"))
    assert player._summary(reel, "demo", stop) == said


@pytest.mark.parametrize(
    ("speed", "most", "moments", "due"),
    [
        (1.0, None, [0.5, 2.0, 2.0, 9.0], [0.5, 2.0, 2.0, 9.0]),
        (2.0, None, [0.5, 2.0], [0.25, 1.0]),
        (0.5, None, [0.5, 2.0], [1.0, 4.0]),
        (0.0, None, [0.5, 2.0], [0.0, 0.0]),
        (1.0, 1.0, [0.5, 9.0, 9.25], [0.5, 1.5, 1.75]),
        (2.0, 1.0, [0.5, 9.0], [0.25, 1.25]),
        (1.0, 0.0, [0.5, 9.0], [0.0, 0.0]),
        (1.0, None, [2.0, 1.0, 3.0], [2.0, 2.0, 3.0]),  # a clock that was set back
    ],
)
def test_a_message_is_due_at_its_own_pace(
    speed: float, most: float | None, moments: list[float], due: list[float]
) -> None:
    tempo = Tempo(speed, most)
    assert [tempo.due(moment) for moment in moments] == due
