"""What a turn does with a workspace: what it asks, what it does with the answers, and what it tells."""

import json
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
import trio
from msgspec import structs
from msgspec.structs import replace

from actors.agent import changing, replacing
from actors.agent.given import CommandOutcome, FileRefused
from actors.agent.messages import TurnOrder
from actors.agent.rights import Rights, rights_at_first
from actors.kernel import Registry
from actors.kernel.testing import run_in_virtual_time
from codec.agent.action_events import (
    CommandFinished,
    CommandOutput,
    CommandStarted,
    FileChanged,
    PatchApplied,
    PatchProposed,
    RequestApproval,
    RequestCommandApproval,
)
from codec.agent.approvals import ClientResult, ExactCommand, Pending, Remembered, Resolution
from codec.agent.events import MessageFinal, ServerError, Thinking, ToolExecute
from codec.agent.files import digest_of, hex_digest
from codec.agent.models import SaidText
from codec.agent.workspaces import Policy
from tests.agent.hands_kit import (
    MemoryHands,
    MemoryImages,
    PaperCommands,
    approves,
    exited,
    has_done,
    means,
    refuses,
)
from tests.agent.turn_kit import STOP, Heard, MemoryTree, Script, call, faults, turn, unpaired, whole

AUTH = "import db\n\n\ndef login(user):\n    return db.find(user)\n\n\ndef logout(user):\n    db.drop(user)\n"
HERE = Policy(patch_application="server", execution_mode="server_runner")
DIFF = "\n".join(
    (
        *("--- a/src/auth.py", "+++ b/src/auth.py", "@@ -4,3 +4,3 @@", " def login(user):"),
        *("-    return db.find(user)", "+    return db.find(user.name)", " ", ""),
    )
)


class Scene:
    """A workspace, and a model that calls once and then answers."""

    def __init__(self, *calls: Any, files: dict[str, str] | None = None, policy: Policy = HERE, **given: Any) -> None:
        self.tree = MemoryTree({"src/auth.py": AUTH} if files is None else files)
        self.hands = MemoryHands(self.tree)
        self.images = MemoryImages()
        self.commands = PaperCommands()
        self.heard = Heard()
        self.script = Script(*([each, STOP] for each in calls), [SaidText("Done."), STOP])
        self.given = {"policy": policy, **given}
        self.seen_rights: list[Rights] = []
        """What is allowed at each look; then as at first."""

    @property
    def means(self) -> dict[str, Any]:
        return {
            "heard": self.heard,
            "hands": self.hands,
            "acting": means(self.images, self.commands, self.look),
            **self.given,
        }

    async def look(self, registry: Registry, order: TurnOrder) -> Rights:
        await trio.lowlevel.checkpoint()
        return self.seen_rights.pop(0) if self.seen_rights else rights_at_first(order)

    async def play(self) -> Heard:
        return await whole("Fix it", self.script, self.tree, **self.means)

    def run(self, *, with_threads: bool = False) -> Heard:
        """`with_threads`: its files are large; threads take real time."""
        (trio.run if with_threads else run_in_virtual_time)(self.play)
        assert unpaired(self.heard.events) == []
        assert self.heard.requests == {}
        for request in self.script.requests:
            assert faults(request.messages) == []
        return self.heard

    @property
    def result(self) -> str:
        """What the model was told of its first call."""
        (first, *_) = [m.content for m in self.script.requests[1].messages if m.role == "tool"]
        return first


def kinds(heard: Heard) -> list[str]:
    wanted = (ToolExecute, PatchProposed, PatchApplied, FileChanged, RequestCommandApproval, CommandStarted)
    shown = (*wanted, CommandFinished, CommandOutput, ServerError, RequestApproval)
    events = [event for event in heard.events if isinstance(event, shown)]
    return [f"{type(event).__name__} {getattr(event, 'status', '')}".strip() for event in events]


# -- files


def test_a_change_is_proposed_approved_begun_done_and_told_in_this_order() -> None:
    scene = Scene(call("propose_diff", diff=DIFF, rationale="Names", acceptance_criteria=["It works"]))
    scene.heard.answers = lambda request: [approves(request)]
    heard = scene.run()
    assert kinds(heard) == [
        "ToolExecute started",
        "PatchProposed",
        "FileChanged begun",
        "FileChanged done",
        "PatchApplied",
        "ToolExecute completed",
    ]
    (proposed,) = heard.of(PatchProposed)
    assert (proposed.file_path, proposed.rationale, proposed.acceptance_criteria) == (
        "src/auth.py",
        "Names",
        ("It works",),
    )
    assert (proposed.requires_approval, proposed.base_hash, len(proposed.hunks)) == (True, hex_digest(AUTH.encode()), 1)
    begun, done = heard.of(FileChanged)
    new = AUTH.replace("find(user)", "find(user.name)")
    assert scene.tree.files["src/auth.py"] == new
    assert scene.images.blobs[begun.before] == AUTH.encode()
    assert scene.images.blobs[begun.after] == new.encode()
    assert (done.change_id, done.after_hash) == (begun.change_id, digest_of(new.encode()))
    assert scene.result.startswith("src/auth.py was changed (line 5). It has 9 lines now, and is sha256:")
    assert heard.over == heard.applied == [proposed.request_id]
    assert heard.final.metadata.files_modified == 1


def test_a_refusal_is_heard_with_its_reason_and_nothing_is_written() -> None:
    scene = Scene(call("propose_diff", diff=DIFF))
    scene.heard.answers = lambda request: [refuses(request, "Use the id, not the name.")]
    heard = scene.run()
    assert "the user refused it and says: Use the id, not the name." in scene.result
    assert (heard.of(FileChanged), scene.hands.strokes) == ([], [])
    assert heard.final.metadata.files_modified == 0


def test_what_nobody_answers_in_time_is_told_as_that() -> None:
    scene = Scene(call("write_file", file_path="a.py", content="x\n"))
    scene.heard.answers = lambda request: [
        Pending(
            request_id=request.request_id,
            call_id=request.call_id,
            tool_name=request.tool_name,
            asked=request.asked,
            resolution=Resolution(approved=False, ended="timed_out"),
        )
    ]
    scene.run()
    assert "nobody has answered in time" in scene.result


@pytest.mark.parametrize(
    "after", [Rights(Policy(allowed_write_globs=("docs/**",)), "ask", ()), Rights(Policy(), "plan", ())]
)
@pytest.mark.parametrize(
    "wanted",
    [
        ("propose_diff", {"diff": DIFF}),
        ("write_file", {"file_path": "src/auth.py", "content": "x"}),
        ("delete_file", {"file_path": "src/auth.py"}),
        ("execute_command", {"command": "rm -rf build"}),
    ],
)
def test_what_is_forbidden_while_it_waits_is_not_done_though_it_is_approved(after: Rights, wanted: Any) -> None:
    tool, arguments = wanted
    if tool == "execute_command":
        after = replace_rights(after, blocked_commands=("rm",))
    scene = Scene(call(tool, **arguments))
    scene.seen_rights = [Rights(Policy(), "ask", ()), after]
    scene.heard.answers = lambda request: [approves(request)]
    heard = scene.run()
    assert scene.tree.files["src/auth.py"] == AUTH
    assert scene.commands.orders == []
    assert heard.of(FileChanged) == []
    (error,) = heard.of(ServerError)
    assert error.error.code == "POLICY_VIOLATION"
    assert error.error.details["rule"]


@pytest.mark.parametrize(
    ("wanted", "forbidden", "remembered"),
    [
        (
            call("write_file", file_path="src/auth.py", content="x\n"),
            {"allowed_write_globs": ("docs/**",)},
            Remembered(id="r", kind="path", path="src/auth.py"),
        ),
        (
            call("execute_command", command="make all"),
            {"blocked_commands": ("make",)},
            Remembered(id="r", kind="command", argv=("make",)),
        ),
    ],
    ids=["a change", "a command"],
)
def test_a_call_begins_with_what_is_allowed_at_that_moment(
    wanted: Any, forbidden: dict[str, Any], remembered: Remembered
) -> None:
    scene = Scene(wanted)
    scene.seen_rights = [replace_rights(Rights(HERE, "ask", ()), **forbidden)]
    heard = scene.run()
    assert heard.asked == [], "nobody is asked about what is forbidden"
    assert [event.error.code for event in heard.of(ServerError)] == ["POLICY_VIOLATION"]
    scene = Scene(wanted)
    scene.seen_rights = [Rights(HERE, "ask", (remembered,))] * 9
    heard = scene.run()
    assert heard.asked == [], "nor about what somebody has approved for later"
    assert len(heard.of(FileChanged)) + len(heard.of(CommandFinished)) > 0


def test_what_is_remembered_while_a_turn_runs_holds_for_the_rest_of_it() -> None:
    scene = Scene(call("write_file", file_path="src/auth.py", content="x\n"))
    scene.seen_rights = [Rights(Policy(), "ask", (Remembered(id="r", kind="path", path="src/auth.py"),))]
    heard = scene.run()
    assert scene.tree.files["src/auth.py"] == "x\n"
    (proposed,) = heard.of(PatchProposed)
    assert not proposed.requires_approval


def replace_rights(rights: Rights, **policy: Any) -> Rights:
    return Rights(structs.replace(rights.policy, **policy), rights.mode, rights.remembered)


WIDE = AUTH.replace("\n\n\ndef logout", "\n" * 12 + "def logout")


def two_hunks() -> Scene:
    """A change of two places of a file."""
    both = WIDE.replace("find(user)", "find(user.name)").replace("drop(user)", "drop(user.name)")
    return Scene(call("write_file", file_path="src/auth.py", content=both), files={"src/auth.py": WIDE})


@pytest.mark.parametrize("by", ["the server", "the client, which tells it", "the client, which cannot tell it"])
def test_only_the_approved_hunks_are_done_whoever_does_them(by: str) -> None:
    scene = two_hunks()

    def answer(request: Pending) -> list[Pending]:
        if by != "the server":
            scene.tree.files["src/auth.py"] = WIDE.replace("drop(user)", "drop(user.name)")
        approved = approves(request, (1,))
        return [has_done(approved) if by == "the client, which tells it" else approved]

    scene.heard.answers = answer
    heard = scene.run()
    assert len(heard.of(PatchProposed)[0].hunks) == 2
    assert scene.tree.files["src/auth.py"] == WIDE.replace("drop(user)", "drop(user.name)")
    assert "The user refused hunk 1 of 2." in scene.result
    done = "already" if by == "the client, which cannot tell it" else "applied"
    assert [each.outcome for each in heard.of(PatchApplied)[0].hunks] == ["rejected", done]


def test_the_files_of_one_call_are_asked_about_at_once_and_done_in_one_stroke() -> None:
    edits = [
        {"file_path": "src/auth.py", "old": "find(user)", "new": "find(user.name)"},
        {"file_path": "src/new.py", "old": "", "new": "x = 1\n"},
        {"file_path": "src/no.py", "old": "", "new": "x = 1\n"},
    ]
    scene = Scene(call("propose_diff", edits=edits))
    scene.heard.answers = lambda request: [
        refuses(request) if request.asked.file_path == "src/no.py" else approves(request)  # type: ignore[union-attr]
    ]
    heard = scene.run()
    assert kinds(heard)[1:4] == ["PatchProposed"] * 3
    assert [[each.path for each in stroke] for stroke in scene.hands.strokes] == [["src/auth.py", "src/new.py"]]
    assert [event.action for event in heard.of(FileChanged) if event.status == "done"] == ["modify", "create"]
    assert "src/no.py: the user refused it" in scene.result
    assert heard.final.metadata.files_modified == 2


def test_a_deletion_is_asked_without_a_diff_and_done() -> None:
    scene = Scene(call("delete_file", file_path="./src//auth.py", reason="It is old"))
    scene.heard.answers = lambda request: [approves(request)]
    heard = scene.run()
    (asked,) = heard.of(RequestApproval)
    assert (asked.tool_name, asked.args) == ("delete_file", {"file_path": "src/auth.py", "reason": "It is old"})
    assert scene.tree.files == {}
    assert heard.of(FileChanged)[-1].action == "delete"
    assert scene.result == "src/auth.py is deleted."


def test_what_is_allowed_is_said_and_done_without_waiting() -> None:
    scene = Scene(call("propose_diff", diff=DIFF), mode="auto")
    heard = scene.run()
    assert not heard.of(PatchProposed)[0].requires_approval
    assert heard.asked == []
    assert "find(user.name)" in scene.tree.files["src/auth.py"]


@pytest.mark.parametrize("lines", [10, 20_000])
def test_large_files_are_worked_on_beside_the_loop(lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set[int]()

    def watched(job: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **more: Any) -> Any:
            threads.add(threading.get_ident())
            return job(*given, **more)

        return run

    for module, name in ((changing, "draft"), (replacing, "made_diff")):
        monkeypatch.setattr(module, name, watched(getattr(module, name)))
    edits = [{"file_path": "x.txt", "old": "line 1\n", "new": "line one\n"}]
    text = "".join(f"line {number}\n" for number in range(lines))
    scene = Scene(call("propose_diff", edits=edits), mode="auto", files={"x.txt": text})
    scene.run(with_threads=True)
    assert scene.tree.files["x.txt"] == text.replace("line 1\n", "line one\n")
    assert (threading.get_ident() in threads) == (lines == 10)
    assert threads


def test_a_remembered_path_is_changed_without_asking() -> None:
    remembered = (Remembered(id="r", kind="path", path="src/auth.py"),)
    scene = Scene(call("propose_diff", diff=DIFF), remembered=remembered)
    assert scene.run().asked == []


DENIED = [
    (call("write_file", file_path=".git/hooks/pre-commit", content="x"), {}),
    (call("write_file", file_path=".GIT/config", content="x"), {}),
    (call("write_file", file_path="../x", content="x"), {}),
    (call("write_file", file_path="/etc/passwd", content="x"), {}),
    (call("delete_file", file_path="node_modules/a.js"), {}),
    (call("propose_diff", edits=[{"file_path": "node_modules/a.js", "old": "", "new": "x"}]), {}),
    (call("delete_file", file_path="../x"), {}),
    (call("propose_diff", diff=DIFF.replace("src/auth.py", ".git/config")), {}),
    (call("propose_diff", edits=[{"file_path": ".git/config", "old": "", "new": "x"}]), {}),
    (call("write_file", file_path="a.txt", content="x"), {"policy": Policy(allowed_write_globs=("src/**",))}),
    (call("write_file", file_path="a.txt", content="x"), {"mode": "plan"}),
    (call("propose_diff", diff=DIFF), {"mode": "plan"}),
    (call("execute_command", command="ls"), {"mode": "plan"}),
    (call("execute_command", command="ls && rm -rf x"), {"policy": Policy(blocked_commands=("rm",))}),
    (call("execute_command", command="ls", folder="../.."), {"mode": "auto"}),
    (call("execute_command", argv=["ls"], folder="/etc"), {}),
    (call("execute_command", command="ls", folder="src/.git/hooks"), {}),
]


@pytest.mark.parametrize(("denied", "given"), DENIED, ids=[str(number) for number in range(len(DENIED))])
def test_what_the_policy_denies_reaches_no_hands_and_is_told_with_its_rule(denied: Any, given: dict[str, Any]) -> None:
    scene = Scene(denied, **given)
    scene.hands.forbidden = True
    heard = scene.run()
    assert heard.asked == []
    assert scene.commands.orders == []
    assert [event.status for event in heard.of(ToolExecute)] == ["started", "failed"]
    (error,) = heard.of(ServerError)
    assert error.error.code == "POLICY_VIOLATION"
    details = error.error.details
    assert {"rule", "tool_name"} <= set(details)
    if denied.call.name == "execute_command":
        words = denied.call.arguments
        assert details["command"] == words.get("command", " ".join(words.get("argv", ())))
    assert error.error.message in scene.result


def test_a_change_of_a_file_that_may_not_be_read_is_told_with_its_rule() -> None:
    scene = Scene(call("propose_diff", diff=DIFF), policy=replace(HERE, allowed_read_globs=("docs/**",)))
    heard = scene.run()
    assert (heard.asked, scene.hands.strokes) == ([], [])
    (error,) = heard.of(ServerError)
    assert (error.error.code, error.error.details["rule"]) == ("POLICY_VIOLATION", "allowed_read_globs")
    assert error.error.message in scene.result


def test_in_plan_mode_no_tool_with_hands_is_offered() -> None:
    scene = Scene(mode="plan")
    scene.run()
    assert {tool.name for tool in scene.script.requests[0].tools} & {"write_file", "execute_command"} == set()
    assert "You plan" in scene.script.requests[0].messages[0].content


# -- a file that has changed


def test_a_change_elsewhere_in_the_file_is_merged() -> None:
    scene = Scene(call("propose_diff", diff=DIFF))

    def answer(request: Pending) -> list[Pending]:
        scene.tree.files["src/auth.py"] = AUTH.replace("drop(user)", "drop(user, now=True)")
        return [approves(request)]

    scene.heard.answers = answer
    heard = scene.run()
    assert scene.tree.files["src/auth.py"] == AUTH.replace("find(user)", "find(user.name)").replace(
        "drop(user)", "drop(user, now=True)"
    )
    assert "both changes stand in it now" in scene.result
    begun = heard.of(FileChanged)[0]
    assert b"now=True" in scene.images.blobs[begun.before]
    assert b"user.name" not in scene.images.blobs[begun.before]


def test_a_change_of_the_same_lines_is_left_alone_and_told_with_what_can_be_done() -> None:
    scene = Scene(call("propose_diff", diff=DIFF))
    theirs = AUTH.replace("find(user)", "find(user.id)")

    def answer(request: Pending) -> list[Pending]:
        scene.tree.files["src/auth.py"] = theirs
        return [approves(request)]

    scene.heard.answers = answer
    heard = scene.run()
    assert scene.tree.files["src/auth.py"] == theirs
    (error,) = heard.of(ServerError)
    assert error.error.code == "FILE_MODIFIED"
    assert error.error.details == {"file_path": "src/auth.py", "options": ["regenerate", "force", "cancel"]}
    assert error.error.message in scene.result
    assert [event.success for event in heard.of(PatchApplied)] == [False]
    assert heard.of(FileChanged) == []


def test_a_file_that_was_edited_is_not_deleted_and_what_is_advised_can_be_done() -> None:
    scene = Scene(call("delete_file", file_path="src/auth.py", reason="It is not used"))

    def answer(request: Pending) -> list[Pending]:
        scene.tree.files["src/auth.py"] = "mine\n"
        return [approves(request)]

    scene.heard.answers = answer
    heard = scene.run()
    assert scene.tree.files["src/auth.py"] == "mine\n"
    (error,) = heard.of(ServerError)
    assert error.error.details == {"file_path": "src/auth.py", "options": ["regenerate", "cancel"]}
    assert "src/auth.py was not deleted: it has changed since" in error.error.message
    assert "write the whole file" not in scene.result
    assert "propose" not in scene.result


def test_an_edit_at_the_moment_of_the_stroke_is_seen_and_merged() -> None:
    scene = Scene(call("propose_diff", diff=DIFF), mode="auto")

    def edit() -> None:
        scene.tree.files["src/auth.py"] = AUTH.replace("drop(user)", "drop(user, now=True)")

    scene.hands.before_stroke = [edit]
    heard = scene.run()
    assert [event.status for event in heard.of(FileChanged)] == ["begun", "failed", "begun", "done"]
    assert "user.name" in scene.tree.files["src/auth.py"]
    assert "now=True" in scene.tree.files["src/auth.py"]


def test_a_file_that_never_stands_still_is_left_alone() -> None:
    scene = Scene(call("propose_diff", diff=DIFF), mode="auto")

    def edit() -> None:
        scene.tree.files["src/auth.py"] += "# more\n"

    scene.hands.before_stroke = [edit] * 9
    heard = scene.run()
    assert len(scene.hands.strokes) == 3
    assert "user.name" not in scene.tree.files["src/auth.py"]
    assert heard.of(ServerError)[0].error.code == "FILE_MODIFIED"


def test_a_disk_that_refuses_is_told_and_nothing_counts_as_changed() -> None:
    scene = Scene(call("propose_diff", diff=DIFF), mode="auto")
    scene.hands.refuses["src/auth.py"] = FileRefused("The disk is full.")
    heard = scene.run()
    assert [event.status for event in heard.of(FileChanged)] == ["begun", "failed"]
    assert scene.result.startswith("propose_diff failed: src/auth.py was not changed: The disk is full.")
    assert heard.final.metadata.files_modified == 0


# -- secrets

KEYS = "[web]\nDEBUG=1\nAPI_KEY=hunter2hunter2\nPORT=80\n"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("DEBUG=0\nAPI_KEY=***\nPORT=80\n", "holds a secret that you were not shown"),
        ("DEBUG=0\nPORT=80\n", "holds a secret that you were not shown"),
        (KEYS + "API_KEY=***\n", "would write *** into"),
    ],
)
def test_a_change_that_would_destroy_a_secret_is_refused(content: str, told: str) -> None:
    scene = Scene(call("write_file", file_path="keys.ini", content=content), files={"keys.ini": KEYS}, mode="auto")
    scene.run()
    assert scene.tree.files["keys.ini"] == KEYS
    assert told in scene.result


def test_a_change_beside_a_secret_is_made() -> None:
    scene = Scene(
        call("propose_diff", edits=[{"file_path": "keys.ini", "old": "PORT=80", "new": "PORT=81"}]),
        files={"keys.ini": KEYS},
        mode="auto",
    )
    heard = scene.run()
    assert scene.tree.files["keys.ini"] == KEYS.replace("80", "81")
    assert "hunter2" not in repr([request.messages for request in scene.script.requests])
    assert "hunter2" not in repr(heard.of(ToolExecute))


@pytest.mark.parametrize("alone", [True, False])
def test_nobody_is_asked_about_a_change_that_is_too_large_to_be_kept_and_the_model_is_told(alone: bool) -> None:
    edits = [{"file_path": "large.txt", "old": "x\n", "new": "x" * 50}]
    edits += [] if alone else [{"file_path": "small.txt", "old": "x\n", "new": "y\n"}]
    scene = Scene(call("propose_diff", edits=edits), files={"large.txt": "x\n", "small.txt": "x\n"})
    scene.hands.largest = 20
    scene.heard.answers = lambda request: [approves(request)]
    heard = scene.run()
    assert [each.file_path for each in heard.of(PatchProposed)] == ([] if alone else ["small.txt"])
    assert "It would be too large." in scene.result
    assert scene.tree.files == {"large.txt": "x\n", "small.txt": "x\n" if alone else "y\n"}


# -- the client's way

CLIENT = Policy(patch_application="client", execution_mode="local_terminal")


def test_a_client_that_has_applied_a_patch_has_approved_it_and_its_word_is_told_as_its() -> None:
    scene = Scene(call("propose_diff", diff=DIFF), policy=CLIENT)
    scene.heard.capabilities = ["diff_preview"]
    new = AUTH.replace("find(user)", "find(user.name)")

    def answer(request: Pending) -> list[Pending]:
        scene.tree.files["src/auth.py"] = new
        return [has_done(request, applied_hash=digest_of(new.encode()))]

    scene.heard.answers = answer
    heard = scene.run()
    assert scene.hands.strokes == []
    (applied,) = heard.of(PatchApplied)
    assert (applied.by, applied.success, applied.applied_hash) == ("client", True, digest_of(new.encode()))
    (changed,) = heard.of(FileChanged)
    assert (changed.status, scene.images.blobs[changed.before]) == ("done", AUTH.encode())
    assert "the editor has applied it. It has 9 lines now" in scene.result


def test_of_a_patch_that_is_approved_by_hunk_an_editor_applies_these_and_nothing_is_added_here() -> None:
    lines = [f"line {number}\n" for number in range(40)]
    edits = [{"file_path": "a.txt", "old": lines[at], "new": f"new {at}\n"} for at in (5, 30)]
    scene = Scene(call("propose_diff", edits=edits), files={"a.txt": "".join(lines)}, policy=CLIENT)
    scene.heard.capabilities = ["diff_preview"]
    second = "".join(lines).replace(lines[30], "new 30\n")

    def answers(request: Pending) -> list[Pending]:
        scene.tree.files["a.txt"] = second
        approved = approves(request, (1,))
        return [approved, has_done(approved, applied_hash=digest_of(second.encode()))]

    scene.heard.answers = answers
    heard = scene.run()
    assert scene.hands.strokes == []
    assert scene.tree.files["a.txt"] == second
    (applied,) = heard.of(PatchApplied)
    assert (applied.by, [each.outcome for each in applied.hunks]) == ("client", ["rejected", "applied"])
    (changed,) = heard.of(FileChanged)
    assert scene.images.blobs[changed.after] == second.encode()
    assert heard.final.metadata.seconds == 0


def test_a_patch_that_a_client_has_not_applied_in_a_while_is_applied_here() -> None:
    scene = Scene(call("propose_diff", diff=DIFF), policy=CLIENT)
    scene.heard.capabilities = ["patch_apply"]
    scene.heard.answers = lambda request: [approves(request)]
    heard = scene.run()
    assert "user.name" in scene.tree.files["src/auth.py"]
    assert heard.of(PatchApplied)[0].by == "server"
    assert heard.final.metadata.seconds == 60


@pytest.mark.parametrize("silent", ["a.txt", "b.txt", "c.txt"])
def test_an_editor_that_is_silent_about_one_patch_is_heard_about_the_others_and_that_one_is_done_here_in_words(
    silent: str,
) -> None:
    files = {f"{name}.txt": f"old {name}\n" for name in "abc"}
    edits = [{"file_path": path, "old": text, "new": "new\n"} for path, text in files.items()]
    scene = Scene(call("propose_diff", edits=edits), files=files, policy=CLIENT)
    scene.heard.capabilities = ["patch_apply"]
    fails = "a.txt" if silent != "a.txt" else "c.txt"
    applies = ({*files} - {silent, fails}).pop()
    scene.heard.answers = lambda request: [approves(request)]

    async def editor() -> None:
        await scene.heard.log.nth(1, lambda event: isinstance(event, Thinking) and bool(event.until))
        await trio.sleep(10.0)
        for request in list(scene.heard.requests.values()):
            assert isinstance(request.asked, PatchProposed)
            path = request.asked.file_path
            if path == applies:
                scene.tree.files[path] = "new\n"
                scene.heard.settle(has_done(request, applied_hash=digest_of(b"new\n")))
            elif path == fails:
                result = ClientResult(success=False, error="it is read-only")
                scene.heard.settle(replace(request, result=result))

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(editor)
            await scene.play()

    run_in_virtual_time(main)
    heard = scene.heard
    told = dict(line.split(maxsplit=1) for line in scene.result.replace(":", "").splitlines())
    assert told[fails].startswith("the editor could not apply it it is read-only")
    assert told[applies].startswith("the editor has applied it.")
    assert told[silent].endswith(changing.SILENT.replace(":", ""))
    assert (scene.tree.files[silent], scene.tree.files[fails]) == ("new\n", files[fails])
    assert {each.file_path: each.by for each in heard.of(PatchApplied)} == {applies: "client", silent: "server"}
    assert heard.final.metadata.seconds == 60


def test_without_a_client_that_applies_patches_it_is_done_here_at_once() -> None:
    scene = Scene(call("propose_diff", diff=DIFF), policy=CLIENT)
    scene.heard.answers = lambda request: [approves(request)]
    assert scene.run().final.metadata.seconds == 0


# -- commands


def test_a_command_is_asked_for_as_it_will_run_and_its_end_is_told() -> None:
    scene = Scene(call("execute_command", argv=["pytest", "-q", "a b"], folder="src", reason="To see", timeout=9))
    scene.commands.outcomes["pytest -q a b"] = exited(1, "one\ntwo\n", "KEY=sk-abcdefgh12345678abcd\n")
    scene.heard.answers = lambda request: [approves(request)]
    heard = scene.run()
    assert kinds(heard) == [
        "ToolExecute started",
        "RequestCommandApproval",
        "CommandStarted",
        "CommandOutput",
        "CommandFinished",
        "ToolExecute completed",
    ]
    (asked,) = heard.of(RequestCommandApproval)
    assert (asked.command, asked.working_directory) == ("pytest -q 'a b'", "/w/src")
    assert asked.environment == {"PATH": "/bin"}
    assert (asked.network, asked.execution_mode, asked.request_id) == (False, "server_runner", asked.command_id)
    assert asked.reason.startswith("To see")
    (order,) = scene.commands.orders
    assert (order.command, order.folder, order.seconds) == (("pytest", "-q", "a b"), "src", 9)
    assert scene.result == (
        "$ pytest -q 'a b'  (in src)\nIt ended with exit code 1 after 1.5 seconds.\n"
        "[stdout]\none\ntwo\n[stderr]\nKEY=***"
    )
    assert heard.of(CommandFinished)[0].exit_code == 1


def test_a_refused_command_does_not_run() -> None:
    scene = Scene(call("execute_command", command="make all"))
    scene.heard.answers = lambda request: [refuses(request, "Not now.")]
    heard = scene.run()
    assert (scene.commands.orders, heard.of(CommandStarted)) == ([], [])
    assert "It was not run: the user refused it and says: Not now." in scene.result


def test_a_command_without_a_wall_says_so_before_it_is_approved() -> None:
    scene = Scene(call("execute_command", command="make all"))
    scene.commands = PaperCommands(confines=False)
    scene.heard.answers = lambda request: [approves(request)]
    (asked,) = scene.run().of(RequestCommandApproval)
    assert asked.network
    assert "This machine cannot keep it off the network." in asked.reason


def test_a_command_that_is_remembered_exactly_runs_and_asks_in_another_folder_or_with_another_word() -> None:
    calls = ({"command": "rm -rf out"}, {"command": "rm -rf out", "folder": "src"}, {"argv": ["rm", "-rf", "out"]},
             {"command": "rm -rf out x"})  # fmt: skip
    kept = Remembered(id="r", kind="command", exactly=ExactCommand(line="rm -rf out"))
    policy = structs.replace(HERE, blocked_commands=())
    scene = Scene(*(call("execute_command", **each) for each in calls), policy=policy, remembered=(kept,))
    scene.heard.answers = lambda request: [refuses(request)]
    heard = scene.run()
    assert [event.command for event in heard.of(CommandStarted)] == ["rm -rf out"]
    asked = heard.of(RequestCommandApproval)
    assert [each.working_directory.endswith("/src") for each in asked] == [True, False, False]
    assert all(each.may_remember_exactly and each.may_remember == () for each in asked)


@pytest.mark.parametrize("reason", ["To see it", "To see it.", " To see it ", ""])
def test_the_models_reason_and_the_policys_are_sentences_of_their_own(reason: str) -> None:
    scene = Scene(call("execute_command", command="make all", reason=reason))
    scene.heard.answers = lambda request: [approves(request)]
    (asked,) = scene.run().of(RequestCommandApproval)
    told = '"make all" is not among the allowed commands of this workspace.'
    assert asked.reason == (f"To see it. {told}" if reason else told)


def test_the_output_that_the_model_is_told_has_its_beginning_and_its_end() -> None:
    scene = Scene(call("execute_command", command="make all"))
    scene.commands.outcomes["make all"] = exited(0, "first\n" + "x\n" * 100_000 + "last\n")
    scene.heard.answers = lambda request: [approves(request)]
    scene.run()
    assert len(scene.result) < 20_000
    assert "first" in scene.result
    assert scene.result.endswith("last")


def test_a_client_with_a_terminal_runs_a_command_and_its_result_is_the_approval() -> None:
    scene = Scene(call("execute_command", command="make all"), policy=CLIENT)
    scene.heard.capabilities = ["terminal_exec"]
    scene.heard.answers = lambda request: [
        has_done(request, exit_code=2, stdout="no rule\n", stderr="make: ***\n", duration_ms=1200)
    ]
    heard = scene.run()
    assert scene.commands.orders == []
    (asked,) = heard.of(RequestCommandApproval)
    assert (asked.execution_mode, asked.environment) == ("local_terminal", {}), "the terminal has one of its own"
    (finished,) = heard.of(CommandFinished)
    assert (finished.by, finished.exit_code) == ("client", 2)
    said = {output.stream: output.text for output in heard.of(CommandOutput)}
    assert said == {"stdout": "no rule\n", "stderr": "make: ***\n"}
    assert "  (in the user's terminal)\nIt ended with exit code 2 after 1.2 seconds.\n[stdout]\nno rule" in scene.result


def test_a_command_that_a_client_was_to_run_is_never_run_here_as_well() -> None:
    scene = Scene(call("execute_command", command="make all", timeout=30), policy=CLIENT)
    scene.heard.capabilities = ["terminal_exec"]
    scene.heard.answers = lambda request: [structs.replace(approves(request), begun=True)]
    heard = scene.run()
    assert scene.commands.orders == []
    assert "It may be running still." in scene.result
    assert heard.of(CommandFinished)[0].ended == "interrupted"
    assert heard.final.metadata.seconds == 90


def test_a_command_that_was_approved_when_no_client_with_a_terminal_was_there_is_run_here() -> None:
    scene = Scene(call("execute_command", command="make all"), policy=CLIENT)
    scene.heard.capabilities = ["terminal_exec"]
    scene.heard.answers = lambda request: [approves(request)]
    heard = scene.run()
    assert [order.command for order in scene.commands.orders] == ["make all"]
    assert heard.begun == [heard.of(RequestCommandApproval)[0].request_id]


def test_while_a_terminal_owes_a_result_the_turn_says_so_and_until_when() -> None:
    scene = Scene(call("execute_command", command="make", timeout=1), policy=CLIENT)
    scene.heard.capabilities = ["terminal_exec"]
    scene.heard.answers = lambda request: [structs.replace(approves(request), begun=True)]
    heard = scene.run()
    (waits,) = [event for event in heard.of(Thinking) if event.until]
    assert waits.message == "Waiting for your editor's terminal to tell how the command ended, 61 seconds at most"
    assert waits.until == 61
    assert heard.of(CommandFinished)[0].ended == "interrupted"
    assert "It may be running still." in scene.result


@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("run_here", [True, False])
def test_a_command_that_is_taken_back_from_a_terminal_is_run_here_once_or_left_and_not_waited_for(
    run_here: bool, asks: bool
) -> None:
    policy = Policy(execution_mode="local_terminal", allowed_commands=() if asks else ("make",))
    scene = Scene(call("execute_command", command="make all"), policy=policy)
    scene.heard.capabilities = ["terminal_exec"]
    has_it: Any = {"begun": True, "terminal": "has_it"}

    def answers(request: Pending) -> list[Pending]:
        has = structs.replace(approves(request), **has_it)
        return [has, structs.replace(has, terminal="run_here" if run_here else "left")]

    scene.heard.answers = answers
    heard = scene.run()
    assert [order.command for order in scene.commands.orders] == ["make all"] * run_here
    assert len(heard.of(CommandStarted)) == run_here
    (finished,) = heard.of(CommandFinished)
    assert (finished.ended, finished.by) == (("exited", "server") if run_here else ("interrupted", "client"))
    assert ("the user did not wait for its end" in scene.result) is not run_here
    assert heard.final.metadata.seconds == 0


def test_what_the_policy_denies_by_now_is_not_run_here_in_place_of_a_terminal() -> None:
    scene = Scene(call("execute_command", command="make all"), policy=CLIENT)
    scene.heard.capabilities = ["terminal_exec"]

    def answers(request: Pending) -> list[Pending]:
        denied = Rights(structs.replace(CLIENT, blocked_commands=("make",)), "ask", ())
        scene.seen_rights = [denied] * 3
        return [structs.replace(approves(request), begun=True, terminal="run_here")]

    scene.heard.answers = answers
    heard = scene.run()
    assert scene.commands.orders == []
    assert heard.of(CommandStarted) == []
    assert heard.of(ServerError)[0].error.code == "POLICY_VIOLATION"


def test_an_allowed_command_goes_to_the_clients_terminal_without_an_approval() -> None:
    policy = Policy(execution_mode="local_terminal", allowed_commands=("make",))
    scene = Scene(call("execute_command", command="make all"), policy=policy)
    scene.heard.capabilities = ["terminal_exec"]
    scene.heard.answers = lambda request: [has_done(request, exit_code=0)]
    (asked,) = scene.run().of(RequestCommandApproval)
    assert not asked.requires_approval


def test_the_workspaces_own_tests_run_without_asking_if_the_policy_says_so() -> None:
    policy = Policy(execution_mode="server_runner", auto_approve_tests=True)
    files = {"package.json": '{"scripts": {"test": "vitest"}}', "a.js": "1\n"}
    scene = Scene(call("execute_command", command="npm test"), call("execute_command", command="npm run x"),
                  files=files, policy=policy)  # fmt: skip
    scene.heard.answers = lambda request: [refuses(request)]
    heard = scene.run()
    assert [event.command for event in heard.of(CommandStarted)] == ["npm test"]
    assert [event.command for event in heard.of(RequestCommandApproval)] == ["npm run x"]


def test_the_card_of_a_command_says_what_it_runs_and_a_turn_that_has_changed_that_asks() -> None:
    policy = structs.replace(HERE, auto_approve_tests=True)
    package = '{"scripts": {"test": "vitest", "deploy": "./deploy.sh"}}'
    changed = '{"scripts": {"test": "rm -rf ."}}'
    scene = Scene(
        call("execute_command", command="npm run deploy"),
        call("execute_command", command="npm test"),
        call("write_file", file_path="package.json", content=changed),
        call("execute_command", command="npm test"),
        files={"package.json": package, "a.js": "1\n"},
        policy=policy,
    )
    scene.heard.answers = lambda request: [(approves if request.tool_name == "write_file" else refuses)(request)]
    heard = scene.run()
    assert [event.command for event in heard.of(CommandStarted)] == ["npm test"]
    first, second = heard.of(RequestCommandApproval)
    assert [(each.file, each.name, each.text) for each in first.runs] == [("package.json", "deploy", "./deploy.sh")]
    assert [each.text for each in second.runs] == ["rm -rf ."]
    assert '"package.json" has changed since this turn began' in second.reason


PACKAGE, OTHER_PACKAGE = (json.dumps({"scripts": {"test": script}}) for script in ("vitest", "rm -rf ."))


@pytest.mark.parametrize(
    ("path", "content", "asks"),
    [
        ("package.json", OTHER_PACKAGE, True),
        ("package.json", None, True),
        ("package.json", PACKAGE, False),
        ("web/package.json", "{}", True),
        ("notes.txt", "x", False),
    ],
)
def test_tests_ask_if_a_command_has_changed_what_they_run_until_somebody_approves_that(
    path: str, content: str | None, asks: bool
) -> None:
    policy = structs.replace(HERE, auto_approve_tests=True, allowed_commands=("sed",))
    sed = call("execute_command", command="sed -i s/a/b/ x")
    test = call("execute_command", command="npm test")
    scene = Scene(test, sed, test, test, files={"package.json": PACKAGE, "a.js": "1\n"}, policy=policy)

    async def edits(said: Any) -> CommandOutcome:
        scene.tree.files.pop(path, None)
        if content is not None:
            scene.tree.files[path] = content
        return exited(0)

    scene.commands.outcomes["sed -i s/a/b/ x"] = edits
    scene.heard.answers = lambda request: [approves(request)]
    heard = scene.run()
    commands = [event for event in heard.of(RequestCommandApproval) if event.command == "npm test"]
    asked = [event for event in commands if event.requires_approval]
    if content is None:  # then there are no tests any more that could be detected
        assert len(asked) == 2
    else:
        assert len(asked) == asks
        assert all(f'"{path}" has changed since this turn began' in each.reason for each in asked)
    assert len(heard.of(CommandStarted)) == 4


def test_a_refusal_or_another_change_is_no_approval_of_what_tests_run() -> None:
    policy = structs.replace(HERE, auto_approve_tests=True, allowed_commands=("sed",))
    sed = call("execute_command", command="sed -i s/a/b/ x")
    test = call("execute_command", command="npm test")
    scene = Scene(sed, test, test, sed, test, files={"package.json": PACKAGE, "a.js": "1\n"}, policy=policy)
    numbers = iter(range(9))

    async def edits(said: Any) -> CommandOutcome:
        scene.tree.files["package.json"] = PACKAGE + "\n" * (1 + next(numbers))
        return exited(0)

    wanted = iter([True, False, True, True, True])
    scene.commands.outcomes["sed -i s/a/b/ x"] = edits
    scene.heard.answers = lambda request: [approves(request) if next(wanted) else refuses(request)]
    heard = scene.run()
    commands = [event for event in heard.of(RequestCommandApproval) if event.command == "npm test"]
    assert [event.requires_approval for event in commands] == [True] * 3


def test_of_a_command_in_a_folder_the_files_of_that_folder_say_what_it_runs() -> None:
    files = {f"{folder}package.json": json.dumps({"scripts": {"x": f"echo in {folder}"}}) for folder in ("", "web/")}
    scene = Scene(
        call("execute_command", command="npm run x"),
        call("execute_command", command="npm run x", folder="web"),
        files=files,
    )
    scene.heard.answers = lambda request: [refuses(request)]
    assert [[each.text for each in asked.runs] for asked in scene.run().of(RequestCommandApproval)] == [
        ["echo in "],
        ["echo in web/"],
    ]


def test_a_secret_in_a_script_is_withheld_on_the_card_and_a_file_that_may_not_be_read_says_nothing() -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz123456"
    package = json.dumps({"scripts": {"deploy": f"API_KEY={key} ./deploy.sh"}})
    for policy, count in ((HERE, 1), (structs.replace(HERE, blocked_globs=("package.json",)), 0)):
        scene = Scene(call("execute_command", command="npm run deploy"), files={"package.json": package}, policy=policy)
        scene.heard.answers = lambda request: [refuses(request)]
        (asked,) = scene.run().of(RequestCommandApproval)
        assert len(asked.runs) == count
        assert all(key not in each.text and each.text.endswith("./deploy.sh") for each in asked.runs)


# -- calls


def test_a_large_file_is_written_whole_and_told_cut() -> None:
    content = "line\n" * 190_000
    scene = Scene(call("write_file", file_path="big.txt", content=content), mode="auto")
    heard = scene.run(with_threads=True)
    assert scene.tree.files["big.txt"] == content
    assert all(len(repr(event.args)) < 2_000 for event in heard.of(ToolExecute))
    assert len(repr(scene.script.requests[1].messages)) < 60_000


BAD = [
    (call("propose_diff"), "give either a diff or edits"),
    (call("propose_diff", diff=DIFF, edits=[{"file_path": "a", "old": "", "new": "x"}]), "give either a diff or edits"),
    (call("propose_diff", diff="this is no diff"), "failed"),
    (call("propose_diff", edits=[{"file_path": "gone.py", "old": "a", "new": "b"}]), "There is no file gone.py"),
    (call("propose_diff", edits=[{"file_path": "src/auth.py", "old": "quux", "new": "b"}]), "was left out"),
    (call("propose_diff", edits=[{"file_path": "src/auth.py", "old": "", "new": "b"}]), "`old` is empty"),
    (call("write_file", file_path="src/auth.py", content=AUTH), "Nothing would change in src/auth.py"),
    (call("write_file", file_path="a", content="x\0"), "NUL"),
    (call("write_file", file_path="", content="x"), "file_path"),
    (call("write_file", file_path=".", content="x"), "workspace's folder"),
    (call("write_file", file_path="a", content="x" * 1_000_001), "length <= 1000000"),
    (call("delete_file", file_path="gone.py"), "There is no file gone.py"),
    (call("execute_command"), "give either a command or argv"),
    (call("execute_command", command="ls", argv=["ls"]), "give either a command or argv"),
    (call("execute_command", command="ls\0"), "no NUL"),
    (call("execute_command", command="ls", timeout=0), "timeout"),
]


@pytest.mark.parametrize(("bad", "told"), BAD, ids=[str(number) for number in range(len(BAD))])
def test_a_call_that_cannot_work_is_told_and_asks_nothing(bad: Any, told: str) -> None:
    scene = Scene(bad, mode="auto")
    heard = scene.run()
    assert told in scene.result
    assert re.match(r"\w+ failed: \S", scene.result)  # its first line says why
    assert heard.of(ToolExecute)[-1].status == "failed"
    assert (heard.asked, scene.hands.strokes, scene.commands.orders) == ([], [], [])
    assert heard.final.metadata.success


# -- time


def test_the_time_of_waiting_for_a_person_is_not_the_turns() -> None:
    scene = Scene(call("propose_diff", diff=DIFF), call("execute_command", command="make all"))

    async def play() -> None:
        async with turn("Fix it", scene.script, scene.tree, **scene.means) as (heard, _):
            assert heard.turn is not None
            for number in (1, 2):
                await heard.log.nth(number, lambda event: isinstance(event, PatchProposed | RequestCommandApproval))
                await trio.sleep(8 * 3600)
                heard.settle(approves(heard.asked[-1]))
            await heard.log.nth(1, lambda event: isinstance(event, MessageFinal))

    run_in_virtual_time(play)
    assert scene.heard.final.message == "Done."
    assert "user.name" in scene.tree.files["src/auth.py"]


def test_a_turn_that_is_not_heard_any_more_begins_nothing() -> None:
    scene = Scene(call("propose_diff", diff=DIFF))

    def answer(request: Pending) -> list[Pending]:
        scene.heard.is_deaf = True
        return [approves(request)]

    scene.heard.answers = answer

    async def play() -> None:
        async with turn("Fix it", scene.script, scene.tree, **scene.means) as (heard, _):
            assert heard.turn is not None
            await heard.turn.wait_stopped()

    run_in_virtual_time(play)
    assert scene.hands.strokes == []
    assert scene.heard.of(FileChanged) == []


SETTINGS = [
    *("cat .env", "cat a.txt .env.local", "sh -c 'grep -n . ./.env'", "cat < .env", "git show HEAD:.env"),
    *(
        "git show HEAD~2:deploy/.env.local",
        'cat .en"v"',
        "cat '.e'nv",
        "cat .e\\nv",
        "cat .e*",
        "cat sub/.en?",
        "cat .{env,x}",
    ),
]


@pytest.mark.parametrize("command", SETTINGS)
def test_what_a_command_shows_of_settings_reaches_neither_the_model_nor_the_log(command: str) -> None:
    scene = Scene(call("execute_command", command=command), policy=structs.replace(HERE, command_approval="never"))
    scene.commands.outcomes[command] = exited(0, "DB_PASS=hunter2\n1:API='a b'\nopen-sesame\n")
    heard = scene.run()
    told = "".join(each.text for each in heard.of(CommandOutput))
    assert "DB_PASS=***\n1:API=***\n***" in scene.result
    assert told == "DB_PASS=***\n1:API=***\n***\n"


@pytest.mark.parametrize("command", ["printenv", "env", "set", "export -p", "grep -rn KEY src", "./show"])
def test_of_variables_with_a_secrets_name_no_command_shows_the_values(command: str) -> None:
    scene = Scene(call("execute_command", command=command), policy=structs.replace(HERE, command_approval="never"))
    said = (
        "HOME=/root\nDB_PASSWORD=sunshine\ndeclare -x API_TOKEN=plain\nexport STRIPE_KEY='a b'\nsrc/a.env:3:SECRET=x\n"
    )
    scene.commands.outcomes[command] = exited(
        0, said + "MONKEYS=3\nmonkey=see\nA_KEY=\nfor key in keys: x = 1\n", "JWT_SECRET=dog\n"
    )
    heard = scene.run()
    shown = (
        "HOME=/root\nDB_PASSWORD=***\ndeclare -x API_TOKEN=***\nexport STRIPE_KEY=***\nsrc/a.env:3:SECRET=***\n"
        "MONKEYS=3\nmonkey=see\nA_KEY=\nfor key in keys: x = 1\n"
    )
    assert "".join(each.text for each in heard.of(CommandOutput)) == shown
    assert shown.rstrip() in scene.result
    assert "JWT_SECRET=***" in scene.result
