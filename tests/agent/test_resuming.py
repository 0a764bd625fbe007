"""A turn that was suspended, taken up again: each request is acted upon once, if the policy still lets it."""

from typing import Any

import pytest
from msgspec.structs import replace

from actors.agent.history import CUT_OFF
from actors.agent.messages import LogEntry
from actors.agent.resuming import by_call, suspended
from actors.kernel.testing import run_in_virtual_time
from codec.agent.action_events import CommandFinished, FileChanged, PatchProposed
from codec.agent.approvals import Pending
from codec.agent.events import ContextCompacted, LogEvent, ServerError, Token, ToolExecute, UserMessage
from codec.agent.models import SaidText
from codec.agent.workspaces import Policy
from tests.agent.hands_kit import MemoryHands, MemoryImages, PaperCommands, approves, has_done, means, refuses
from tests.agent.turn_kit import STOP, Heard, MemoryTree, Script, call, entries, order, turn, unpaired

OLD, NEW = "x = 1\n", "x = 2\n"
HERE = Policy(execution_mode="server_runner", patch_application="server")


class TakenUp:
    """A turn that asked, and then its server ended; what has come of it is given to another turn."""

    def __init__(self, asks: Any) -> None:
        self.tree = MemoryTree({"a.py": OLD})
        self.hands = MemoryHands(self.tree)
        self.images = MemoryImages()
        self.commands = PaperCommands()
        self.asks = asks
        self.heard = Heard()
        self.script = Script([SaidText("Done."), STOP])
        self.before: list[LogEvent] = []
        self.requests: list[Pending] = []

    async def _begin(self) -> None:
        script = Script([SaidText("I look."), self.asks, STOP])
        acting = means(self.images, self.commands)
        async with turn("Do it", script, self.tree, hands=self.hands, acting=acting, policy=HERE) as (heard, _):
            assert heard.turn is not None
            await heard.log.nth(1, lambda event: isinstance(event, PatchProposed) or "Approval" in type(event).__name__)
            heard.is_deaf = True
            await heard.turn.stop(0.1)
        self.before, self.requests = list(heard.events), list(heard.requests.values())

    async def _go_on(self, change: Any, policy: Policy) -> None:
        resumed = [change(approves(request)) for request in self.requests]
        self.heard.requests = {request.request_id: request for request in resumed}
        acting, said = means(self.images, self.commands), entries(self.before, 2)
        more: dict[str, Any] = {"hands": self.hands, "acting": acting, "resumed": resumed, "said": said}
        async with turn("Do it", self.script, self.tree, heard=self.heard, policy=policy, **more) as (heard, _):
            assert heard.turn is not None
            await heard.turn.wait_stopped()

    def run(self, change: Any = lambda request: request, policy: Policy = HERE) -> Heard:
        async def play() -> None:
            await self._begin()
            await self._go_on(change, policy)

        run_in_virtual_time(play)
        assert unpaired([*self.before, *self.heard.events]) == []
        assert self.heard.requests == {}
        assert self.heard.final.message == "I look.\n\nDone."
        return self.heard

    @property
    def result(self) -> str:
        return self.script.requests[0].messages[-1].content


EDIT = call("propose_diff", edits=[{"file_path": "a.py", "old": "x = 1", "new": "x = 2"}])
MAKE = call("execute_command", command="make all", timeout=7)


def test_a_change_that_was_asked_is_done() -> None:
    scene = TakenUp(EDIT)
    scene.run()
    assert scene.tree.files == {"a.py": NEW}
    assert scene.result.startswith("a.py was changed (line 1).")


@pytest.mark.parametrize("text", [OLD, NEW])
def test_of_a_change_that_had_begun_the_file_tells_whether_it_was_done(text: str) -> None:
    scene = TakenUp(EDIT)

    def begun(request: Pending) -> Pending:
        scene.tree.files["a.py"] = text
        return replace(request, begun=True)

    heard = scene.run(begun)
    assert (scene.hands.strokes, heard.of(FileChanged)) == ([], [])
    assert scene.tree.files == {"a.py": text}
    assert ("a.py was changed." in scene.result) is (text == NEW)
    assert ("was not changed: the server ended" in scene.result) is (text == OLD)
    assert heard.final.metadata.files_modified == (text == NEW)


def test_a_command_that_had_begun_is_never_run_again() -> None:
    scene = TakenUp(MAKE)
    heard = scene.run(lambda request: replace(request, begun=True))
    assert scene.commands.orders == []
    assert "It was not run again." in scene.result
    assert heard.of(CommandFinished)[0].ended == "interrupted"


def test_a_command_that_was_asked_runs_as_it_was_asked_for() -> None:
    scene = TakenUp(MAKE)
    scene.run()
    (ordered,) = scene.commands.orders
    assert (ordered.command, ordered.seconds) == ("make all", 7)


@pytest.mark.parametrize(
    ("asks", "policy"),
    [(EDIT, Policy(blocked_globs=("*.py",))), (MAKE, Policy(blocked_commands=("make",)))],
    ids=["a change", "a command"],
)
def test_what_the_policy_denies_by_now_is_not_done_although_it_was_approved(asks: Any, policy: Policy) -> None:
    scene = TakenUp(asks)
    heard = scene.run(policy=policy)
    assert (scene.hands.strokes, scene.commands.orders) == ([], [])
    (error,) = heard.of(ServerError)
    assert error.error.code == "POLICY_VIOLATION"
    assert error.error.message in scene.result


FORBIDS = [(EDIT, Policy(blocked_globs=("*.py",))), (MAKE, Policy(blocked_commands=("make",)))]


@pytest.mark.parametrize(("asks", "policy"), FORBIDS, ids=["a change", "a command"])
def test_a_refusal_is_told_as_the_users_own_whatever_the_policy_says_by_now(asks: Any, policy: Policy) -> None:
    scene = TakenUp(asks)
    heard = scene.run(lambda request: refuses(request, "not on a Friday"), policy=policy)
    assert (scene.hands.strokes, scene.commands.orders, heard.of(ServerError)) == ([], [], [])
    assert "the user refused it and says: not on a Friday" in scene.result


def test_what_a_client_has_done_is_in_the_log_whatever_the_policy_says_by_now() -> None:
    """So it can be undone."""
    scene = TakenUp(EDIT)

    def done(request: Pending) -> Pending:
        scene.tree.files["a.py"] = NEW
        return has_done(request)

    heard = scene.run(done, policy=FORBIDS[0][1])
    assert scene.hands.strokes == []
    assert heard.of(ServerError) == []
    assert [(each.status, each.file_path) for each in heard.of(FileChanged)] == [("done", "a.py")]
    assert "a.py: the editor has applied it." in scene.result


def test_of_several_changes_each_is_told_as_what_it_is_when_the_policy_denies_them_by_now() -> None:
    """One was refused, one was done by a client, and one would still be to be done."""
    files = {"a.py": OLD, "b.py": OLD, "c.py": OLD}
    edits = [{"file_path": path, "old": "x = 1", "new": "x = 2"} for path in files]
    scene = TakenUp(call("propose_diff", edits=edits))
    scene.tree.files.update(files)

    def change(request: Pending) -> Pending:
        assert isinstance(request.asked, PatchProposed)
        match request.asked.file_path:
            case "a.py":
                return refuses(request, "not this one")
            case "b.py":
                scene.tree.files["b.py"] = NEW
                return has_done(request)
        return request

    heard = scene.run(change, policy=FORBIDS[0][1])
    assert scene.tree.files == {"a.py": OLD, "b.py": NEW, "c.py": OLD}
    assert [each.file_path for each in heard.of(FileChanged)] == ["b.py"]
    (error,) = heard.of(ServerError)
    assert error.error.details["path"] == "c.py"
    refused, applied, denied = scene.result.split("\n")
    assert refused == "a.py: the user refused it and says: not this one"
    assert applied.startswith("b.py: the editor has applied it.")
    assert denied.startswith("c.py was not changed: ")


def test_a_proposal_of_which_the_images_are_gone_is_told_as_that() -> None:
    scene = TakenUp(EDIT)

    def forget(request: Pending) -> Pending:
        scene.images.blobs.clear()
        return request

    scene.run(forget)
    assert "What was proposed is not kept any more." in scene.result
    assert scene.tree.files == {"a.py": OLD}


def test_a_call_that_was_broken_off_without_a_request_is_told_as_broken_off() -> None:
    scene = TakenUp(EDIT)

    def lost(request: Pending) -> Pending:
        event = ToolExecute(tool_name="read_file", args={}, status="started", call_id="t1.9")
        scene.before.append(event)
        return request

    async def play() -> None:
        await scene._begin()
        lost(scene.requests[0])
        await scene._go_on(lambda request: request, HERE)

    run_in_virtual_time(play)
    told = [message.content for message in scene.script.requests[0].messages if message.role == "tool"]
    assert told[1:] == [f"read_file failed: {CUT_OFF}"]
    assert unpaired([*scene.before, *scene.heard.events]) == []


def test_a_suspended_turn_is_told_from_its_log_and_what_was_summed_up_stays_summed_up() -> None:
    events: list[LogEvent] = [
        ContextCompacted(summary="They spoke.", upto=3),
        Token(token="I look."),
        ToolExecute(tool_name="read_file", args={}, status="started", call_id="t1.1"),
        ToolExecute(tool_name="read_file", args={}, status="completed", call_id="t1.1", result={"text": "x"}),
        ToolExecute(tool_name="delete_file", args={}, status="started", call_id="t1.2"),
    ]
    past = [LogEntry(1, UserMessage(message="Hello", message_id="m0", turn_id="t0")), LogEntry(2, Token(token="Hi"))]
    session: Any = None
    found = suspended(order(session, "Do it", transcript=past, said=entries(events, 5)))
    assert (found.past.summary, found.past.turns) == ("They spoke.", ())
    assert [message.role for message in found.since] == ["assistant", "tool", "assistant", "tool"]
    assert (found.text, found.made, list(found.open), found.tools_used) == ("I look.", 2, ["t1.2"], ("read_file",))
    assert found.with_result("t1.2", "gone").since[-1].content == "gone"


def test_requests_are_taken_call_by_call() -> None:
    asked = PatchProposed(patch_id="p", file_path="a", diff="")
    made = [Pending(request_id=f"p{n}", call_id=f"c{n % 2}", tool_name="x", asked=asked) for n in range(4)]
    assert {call_id: [each.request_id for each in found] for call_id, found in by_call(made).items()} == {
        "c0": ["p0", "p2"],
        "c1": ["p1", "p3"],
    }
