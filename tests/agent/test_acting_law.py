"""Whatever is asked, answered, cancelled or killed: a file is as it was or as it was to be, and the log says which."""

from typing import Any

import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.agent.history import history
from actors.kernel.testing import run_in_virtual_time, run_schedule
from codec.agent.action_events import CommandStarted, FileChanged
from codec.agent.approvals import Pending
from codec.agent.events import MessageFinal, UserMessage
from codec.agent.files import digest_of
from codec.agent.models import SaidText
from codec.agent.workspaces import Policy
from tests.agent.hands_kit import MemoryHands, MemoryImages, PaperCommands, approves, exited, has_done, means, refuses
from tests.agent.turn_kit import STOP, Heard, MemoryTree, Script, call, entries, faults, turn, unpaired
from tests.plenty import plenty

FILES = {"a.py": "".join(f"line {number}\n" for number in range(1, 41)), "b.py": "x = 1\n"}
ORDER: dict[str, Any] = {"policy": Policy(execution_mode="server_runner", patch_application="client")}


def edit(path: str, old: str, new: str) -> dict[str, str]:
    return {"file_path": path, "old": old, "new": new}


CALLS = [
    call("propose_diff", edits=[edit("a.py", "line 3\n", "LINE 3\n"), edit("a.py", "line 33\n", "LINE 33\n")]),
    call("propose_diff", edits=[edit("a.py", "line 9\n", "LINE 9\n"), edit("b.py", "x = 1", "x = 2")]),
    call("write_file", file_path="c/new.py", content="y = 1\n"),
    call("write_file", file_path="b.py", content="z = 1\n"),
    call("write_file", file_path=".git/config", content="z = 1\n"),
    call("delete_file", file_path="b.py"),
    call("execute_command", argv=["make", "all"]),
    call("execute_command", command="make all && rm -rf c"),
    call("read_file", file_path="a.py"),
]


class Play:
    """A turn over these files, whose model makes these calls, one after the other."""

    def __init__(self, calls: list[Any], answers: list[str], mode: str = "ask") -> None:
        self.tree = MemoryTree(FILES)
        self.hands = MemoryHands(self.tree)
        self.commands = PaperCommands()
        self.script = Script(*([each, STOP] for each in calls), [SaidText("Done."), STOP])
        self.heard = Heard(capabilities=["patch_apply"])
        self.heard.answers = self._answer
        self.edited: dict[str, str] = {}
        """As the user has left these files last."""
        self._answers = list(answers)
        self._given = {**ORDER, "mode": mode}

    def _answer(self, request: Pending) -> list[Pending]:
        answer = self._answers.pop(0) if self._answers else "approve"
        path = getattr(request.asked, "file_path", None)
        match answer:
            case "refuse":
                return [refuses(request, "No.")]
            case "a hunk" if path is not None and len(request.asked.hunks) > 1:  # type: ignore[union-attr]
                return [approves(request, (1,))]
            case "edit elsewhere" | "edit there" if path in self.tree.files:
                old = "line 20\n" if answer == "edit elsewhere" else "line 3\n"
                if old in self.tree.files[path]:
                    self.tree.files[path] = self.tree.files[path].replace(old, "theirs\n")
                    self.edited[path] = digest_of(self.tree.files[path].encode())
            case "by the client" if path is not None:
                return [has_done(request, success=False, error="It is open elsewhere.")]
            case "nobody":
                return []
        return [approves(request)]

    def turn(self, **more: Any) -> Any:
        acting = means(MemoryImages(), self.commands)
        given = {**self._given, **more, "heard": self.heard, "hands": self.hands, "acting": acting}
        return turn("Do it", self.script, self.tree, **given)

    def wrong(self) -> list[str]:
        """Files that are not as the log says."""
        found, last = [], dict[str, FileChanged]()
        for event in self.heard.of(FileChanged):
            last[event.file_path] = event
        for path in {*FILES, *self.tree.files, *last}:
            text = self.tree.files.get(path)
            now = None if text is None else digest_of(text.encode())
            change = last.get(path)
            if change is None:
                before = FILES.get(path)
                may_be = {None if before is None else digest_of(before.encode())}
            else:
                before_or_after = {"done": {change.after_hash}, "failed": {change.before_hash}}
                may_be = before_or_after.get(change.status, {change.before_hash, change.after_hash})
            if now not in may_be and (path not in self.edited or now != self.edited[path]):
                found.append(f"{path} is not as {change} says")
            if path in self.edited and "theirs\n" not in (text or ""):
                found.append(f"what the user wrote into {path} is lost")
        return found


class Cancelling(trio.abc.Instrument):
    """Cancels the turn after the n-th step of its work, as a session does: it is deaf from that moment."""

    def __init__(self, play: Play, step: int | None) -> None:
        self.play = play
        self.steps = 0
        self._step = step
        self.strokes: int | None = None
        """As many as the log says are begun, at that moment; none comes to them."""
        self.started: int | None = None

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        if "t1" not in task.name:
            return
        self.steps += 1
        heard = self.play.heard
        if self._step is not None and self.steps >= self._step and heard.turn is not None:
            self._step = None
            heard.is_deaf = True
            is_open = sum(1 if event.status == "begun" else -1 for event in heard.of(FileChanged)) > 0
            self.strokes = len(self.play.hands.strokes) + is_open
            self.started = len(heard.of(CommandStarted))
            heard.turn.begin_stop(0.2)


async def cancelled_after(step: int | None) -> Cancelling:
    play = Play([CALLS[1], CALLS[2], CALLS[6], CALLS[5]], ["approve", "approve", "approve", "approve"])
    play.commands.outcomes["make all"] = slow
    cancelling = Cancelling(play, step)
    trio.lowlevel.add_instrument(cancelling)
    try:
        async with play.turn() as (heard, _):
            assert heard.turn is not None
            await heard.turn.wait_stopped()
            await trio.testing.wait_all_tasks_blocked()
            told, files = list(heard.events), dict(play.tree.files)
            assert (play.script.open, play.commands.running) == (0, 0)
            assert play.wrong() == []
            if cancelling.strokes is not None:
                assert len(play.hands.strokes) <= cancelling.strokes
                assert len(play.commands.orders) <= (cancelling.started or 0)
            await trio.sleep(3600)
            assert (heard.events, play.tree.files) == (told, files)
        said = UserMessage(message="Do it", message_id="m", turn_id="t1")
        assert faults(history(entries([said, *told])).messages) == []
        if step is None:
            assert unpaired(told) == []
            assert heard.of(MessageFinal)[0].metadata.files_modified == 3
    finally:
        trio.lowlevel.remove_instrument(cancelling)
    return cancelling


async def slow(said: Any) -> Any:
    said("stdout", "half a line")
    await trio.sleep(3)
    said("stdout", " and the rest\n")
    return exited(0, "half a line and the rest\n")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 4))
def test_a_turn_that_asks_writes_and_runs_does_nothing_more_whenever_it_is_cancelled(seed: int) -> None:
    steps = run_schedule(seed, cancelled_after, None).steps
    assert steps > 60
    for step in range(1, steps):
        run_schedule(seed, cancelled_after, step)


ANSWERS = ["approve", "refuse", "a hunk", "edit elsewhere", "edit there", "by the client"]


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(CALLS), min_size=1, max_size=5),
    st.lists(st.sampled_from(ANSWERS), max_size=8),
    st.sampled_from(["ask", "auto", "plan"]),
    st.none() | st.integers(1, 400),
)
@example([CALLS[0], CALLS[0]], ["a hunk", "edit there"], "ask", None)
@settings(max_examples=plenty(70), deadline=None)
def test_a_file_is_as_it_was_or_as_it_was_to_be_and_the_log_says_which(
    calls: list[Any], answers: list[str], mode: str, killed: int | None
) -> None:
    play = Play(calls, answers, mode)
    play.hands.forbidden = mode == "plan"
    cancelling = Cancelling(play, killed)

    async def played() -> None:
        trio.lowlevel.add_instrument(cancelling)
        async with play.turn() as (heard, _):
            assert heard.turn is not None
            await heard.turn.wait_stopped()

    run_in_virtual_time(played)
    assert play.wrong() == []
    assert play.commands.running == 0
    assert not any(path.startswith(".git") for path in play.tree.files)
    if cancelling.strokes is None:
        heard = play.heard
        assert unpaired(heard.events) == []
        assert heard.requests == {}
        changes = [event.status for event in heard.of(FileChanged)]
        assert changes.count("begun") == len(changes) / 2
        assert heard.final.message == "Done."
        for request in play.script.requests:
            assert faults(request.messages) == []


# -- taken up after the end of the server


async def played_with_a_kill(each: Any, answer: str) -> Play:
    """The server ends while the turn waits; then the answer comes, and another server goes on."""
    before = Play([each], ["nobody"] * 9)
    images = MemoryImages()
    acting = means(images, before.commands)
    async with turn(
        "Do it", before.script, before.tree, heard=before.heard, hands=before.hands, acting=acting, **ORDER
    ) as (heard, _):
        assert heard.turn is not None
        await trio.testing.wait_all_tasks_blocked()
        heard.is_deaf = True
        await heard.turn.stop(0.1)
    after = Play([each], [answer] * 9)
    after.tree.files = before.tree.files
    after.script.requests.append(before.script.requests[0])
    waiting = list(heard.requests.values())
    settled = [request for one in waiting for request in after._answer(one)]
    after.heard.requests = {request.request_id: request for request in settled}
    for event in heard.events:
        after.heard.log.add(event)
    if settled:
        async with turn(
            "Do it", after.script, after.tree, heard=after.heard, hands=after.hands,
            acting=means(images, after.commands), resumed=settled, said=entries(heard.events, 2), **ORDER,
        ) as (_, _):  # fmt: skip
            assert after.heard.turn is not None
            await after.heard.turn.wait_stopped()
    return after


async def played_without(each: Any, answer: str) -> Play:
    play = Play([each], [answer] * 9)
    async with play.turn() as (heard, _):
        assert heard.turn is not None
        await heard.turn.wait_stopped()
    return play


ASKING = [each for each in CALLS if each.call.name != "read_file" and ".git" not in repr(each)]


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("each", ASKING, ids=[str(number) for number in range(len(ASKING))])
def test_a_turn_that_was_suspended_does_and_tells_the_same(each: Any, answer: str) -> None:
    plays = list[Play]()

    async def play() -> None:
        plays.append(await played_without(each, answer))
        plays.append(await played_with_a_kill(each, answer))

    run_in_virtual_time(play)
    straight, resumed = plays
    assert resumed.tree.files == straight.tree.files
    assert resumed.wrong() == []
    assert resumed.heard.requests == {}
    assert resumed.commands.orders == straight.commands.orders
    assert unpaired(resumed.heard.events) == []
    last = straight.script.requests[-1].messages[-1]
    assert resumed.script.requests[-1].messages[-1] == last
    assert faults(resumed.script.requests[-1].messages) == []
    final, other = resumed.heard.final, straight.heard.final
    assert final.message == resumed.heard.text == other.message
    assert final.metadata.files_modified == other.metadata.files_modified
    assert final.metadata.tools_used == other.metadata.tools_used
