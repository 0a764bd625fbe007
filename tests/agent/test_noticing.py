"""An editor that applies a patch and tells nobody: the file tells, and the turn goes on."""

import itertools
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.agent.given import FileImage, FileRefused
from actors.agent.half_done import FileNow
from actors.agent.images import Images
from actors.agent.noticing import LONGEST_LOOK, LOOK_SECONDS, PART
from actors.kernel import Registry
from actors.kernel.testing import run_in_virtual_time
from codec.agent.action_events import PatchProposed
from codec.agent.approvals import Pending
from codec.agent.files import digest_of
from codec.agent.patches import made_diff
from tests.agent.paper_store import PaperDisk
from tests.agent.session_kit import Asks, Pause, Screen, Stay, patch, stay, until
from tests.agent.test_approvals import asked, over, waits
from tests.plenty import plenty

BASE = "".join(f"line {number}\n" for number in range(20)).encode()
AFTER = BASE.replace(b"line 2\n", b"two\n").replace(b"line 15\n", b"fifteen\n")
FIRST_ONLY = BASE.replace(b"line 2\n", b"two\n")
LAST_ONLY = BASE.replace(b"line 15\n", b"fifteen\n")
EDITOR = ("diff_preview", "git_integration")


class Files:
    """As they are now, and how often they were looked at."""

    def __init__(self, *, seconds: float = 0.0) -> None:
        self.now: dict[str, FileNow] = {}
        self.looks: list[float] = []
        self.seconds = seconds
        self.trouble: Exception | None = None

    def save(self, path: str, data: bytes) -> None:
        self.now[path] = FileImage(path, data, 0o644)

    async def look(self, registry: Registry, workspace_id: str, paths: Sequence[str]) -> Sequence[FileNow]:
        self.looks.append(trio.current_time())
        await trio.sleep(self.seconds)
        if self.trouble is not None:
            raise self.trouble
        return [self.now.get(path) for path in paths]


async def kept(here: Stay, session: str, id: str, path: str, base: bytes | None, after: bytes | None) -> Pending:  # noqa: A002
    """A request with its images, as a turn makes it."""
    images = Images(here.registry, session)
    made = made_diff(path, base, after)
    found = patch(id, path, base=base and await images.keep(base), content=after and await images.keep(after))
    assert isinstance(found.asked, PatchProposed)
    return replace(found, asked=replace(found.asked, diff=made.diff, hunks=made.hunks))


Test = Callable[[Stay, str, Screen, Files], Awaitable[None]]


def play(test: Test, *, files: Files | None = None, can: tuple[str, ...] = EDITOR, **changes: Any) -> None:
    """A turn asks for a change of a.py, and for the others; a client is attached that can this."""
    disk = files or Files()
    disk.save("a.py", BASE)

    async def playing() -> None:
        requests = list[Pending]()

        async with stay(script=[Pause(1), Asks(requests)], files_now=disk.look) as here:  # type: ignore[arg-type]
            fact = await here.create()
            ann = Screen("editor", can=can)
            await here.connect(ann, fact.id)
            await ann.ask("go")
            await until(lambda: here.made)
            for path, (base, after) in {"a.py": (BASE, AFTER), **changes.get("more", {})}.items():
                requests.append(await kept(here, fact.id, f"p{len(requests) + 1}", path, base, after))
            await asked(ann, len(requests))
            await test(here, fact.id, ann, disk)

    run_in_virtual_time(playing)


def settled(here: Stay) -> list[tuple[str, bool, str, str | None]]:
    """Upon what the turn has acted: the request, whether it was approved, by whom, and what a client told of it."""
    found = []
    for each in here.acted:
        resolution, result = each.request.resolution, each.request.result
        assert resolution is not None
        id = each.request.request_id  # noqa: A001
        found.append((id, resolution.approved, resolution.by, None if result is None else result.applied_hash))
    return found


def test_a_patch_that_its_editor_applies_without_a_word_is_settled_at_the_second_look() -> None:
    async def test(here: Stay, id: str, ann: Screen, files: Files) -> None:  # noqa: A002
        await trio.sleep(600)
        assert ann.of("approval.resolved") == []
        files.save("a.py", AFTER)
        began = trio.current_time()
        await until(lambda: ann.of("approval.resolved"))
        assert LOOK_SECONDS <= trio.current_time() - began < 2.5 * LOOK_SECONDS
        (resolved,) = ann.of("approval.resolved")
        assert (resolved["approved"], resolved["by"]) == (True, "editor")
        await over(ann)
        assert settled(here) == [("p1", True, "editor", digest_of(AFTER))]

    play(test)


def test_an_editor_that_tells_what_it_has_applied_is_taken_at_its_word_and_refused_nothing() -> None:
    async def test(here: Stay, id: str, ann: Screen, files: Files) -> None:  # noqa: A002
        files.save("a.py", AFTER)
        looks = len(files.looks)
        await until(lambda: len(files.looks) > looks)
        await ann.say({"type": "client.patch_apply_result", "patch_id": "p1", "success": True, "applied_hash": "its"})
        await over(ann)
        assert settled(here) == [("p1", True, "editor", "its")]
        assert ann.errors == []

    play(test)


@pytest.mark.parametrize("other", [BASE, AFTER + b"more\n", FIRST_ONLY, b""])
def test_a_file_that_is_not_exactly_so_is_no_answer(other: bytes) -> None:
    async def test(here: Stay, id: str, ann: Screen, files: Files) -> None:  # noqa: A002
        files.save("a.py", other)
        await trio.sleep(60)
        assert len(files.looks) > 50
        assert ann.state["pending_approvals"] == ["p1"]

    play(test)


@pytest.mark.parametrize(("hunk", "made", "other"), [(0, FIRST_ONLY, LAST_ONLY), (1, LAST_ONLY, FIRST_ONLY)])
def test_of_an_approval_by_hunk_only_the_file_with_this_hunk_and_without_the_others_is_the_result(
    hunk: int, made: bytes, other: bytes
) -> None:
    async def test(here: Stay, id: str, ann: Screen, files: Files) -> None:  # noqa: A002
        (turn,) = here.made
        turn._act_upon = waits  # type: ignore[method-assign]
        bob = Screen("bob")
        await here.connect(bob, id)
        answer = {"request_id": "p1", "approved": True, "scope": "hunk", "hunks": [hunk]}
        await bob.say({"type": "client.approval_response", **answer})
        await until(lambda: "p1" in turn.settled)
        for wrong in (AFTER, other, BASE):
            files.save("a.py", wrong)
            await trio.sleep(10)
            assert turn.settled["p1"].result is None
        files.save("a.py", made)
        with trio.fail_after(30):
            await until(lambda: turn.settled["p1"].result is not None)
        resolution, result = turn.settled["p1"].resolution, turn.settled["p1"].result
        assert resolution is not None
        assert result is not None
        assert (resolution.hunks, resolution.by) == ((hunk,), "bob")
        assert (result.success, result.applied_hash) == (True, digest_of(made))
        assert len(bob.of("approval.resolved")) == 1

    play(test)


@pytest.mark.parametrize("can", [(), ("terminal_exec",)])
def test_without_a_client_that_applies_patches_nothing_is_looked_at(can: tuple[str, ...]) -> None:
    async def test(here: Stay, id: str, ann: Screen, files: Files) -> None:  # noqa: A002
        files.save("a.py", AFTER)
        await trio.sleep(60)
        assert files.looks == []
        bob = Screen("bob", can=("patch_apply",))
        await here.connect(bob, id)
        await over(ann)
        assert settled(here) == [("p1", True, "bob", digest_of(AFTER))]

    play(test, can=can)


def test_files_that_are_made_and_deleted_are_seen_too_and_each_for_itself() -> None:
    async def test(here: Stay, id: str, ann: Screen, files: Files) -> None:  # noqa: A002
        files.save("old.py", b"old\n")
        await trio.sleep(5)
        files.save("new.py", b"new\n")
        await until(lambda: ann.state["pending_approvals"] == ["p1", "p3"])
        del files.now["old.py"]
        await until(lambda: ann.state["pending_approvals"] == ["p1"])
        await ann.answer("p1", approved=False)
        await over(ann)
        assert [each[:2] for each in settled(here)] == [("p1", False), ("p2", True), ("p3", True)]

    play(test, more={"new.py": (None, b"new\n"), "old.py": (b"old\n", None)})


def test_several_editors_are_there_and_nobody_claims_to_know_which_one_it_was() -> None:
    async def test(here: Stay, id: str, ann: Screen, files: Files) -> None:  # noqa: A002
        await here.connect(Screen("another", can=EDITOR), id)
        files.save("a.py", AFTER)
        await over(ann)
        assert settled(here) == [("p1", True, "", digest_of(AFTER))]

    play(test)


@pytest.mark.parametrize("seconds", [0.0, 0.2, 60.0])
def test_looks_take_a_small_part_of_the_time_however_slow_the_disk_is(seconds: float) -> None:
    files = Files(seconds=seconds)

    async def test(here: Stay, id: str, ann: Screen, files: Files) -> None:  # noqa: A002
        await trio.sleep(1000)
        took = min(seconds, LONGEST_LOOK)
        most = 1 + 1000 / max(LOOK_SECONDS, took / PART)
        assert most / 2 <= len(files.looks) <= most
        if seconds < LONGEST_LOOK:
            files.save("a.py", AFTER)
            await over(ann)

    play(test, files=files)


def test_what_cannot_be_read_is_looked_at_again() -> None:
    async def test(here: Stay, id: str, ann: Screen, files: Files) -> None:  # noqa: A002
        files.save("a.py", AFTER)
        files.trouble = FileRefused("The disk does not answer.")
        await trio.sleep(10)
        files.trouble, files.now["a.py"] = None, FileRefused("It is no file.")
        await trio.sleep(10)
        assert ann.state["pending_approvals"] == ["p1"]
        files.save("a.py", AFTER)
        await over(ann)
        assert settled(here) == [("p1", True, "editor", digest_of(AFTER))]

    play(test)


def test_a_turn_that_was_suspended_goes_on_with_what_the_editor_has_applied_meanwhile() -> None:
    files, ids = Files(), itertools.count(1)
    files.save("a.py", BASE)
    left: dict[str, Any] = {}

    async def playing() -> None:
        requests = list[Pending]()
        script = [Pause(1), Asks(requests)]  # type: ignore[arg-type]
        async with stay(script=script, ids=ids, files_now=files.look) as here:
            session = (await here.create()).id
            ann = Screen("editor", can=EDITOR)
            await here.connect(ann, session)
            await ann.ask("go")
            await until(lambda: here.made)
            requests.append(await kept(here, session, "p1", "a.py", BASE, AFTER))
            await asked(ann)
            left.update(paper=here.disk.paper.copy(), session=session)
        files.save("a.py", AFTER)
        async with stay(PaperDisk(left["paper"]), ids=ids, files_now=files.look) as here:
            ann = Screen("editor", can=EDITOR)
            await here.connect(ann, left["session"], 0)
            final = await over(ann)
            assert final["metadata"]["success"]
            assert settled(here) == [("p1", True, "editor", digest_of(AFTER))]

    run_in_virtual_time(playing)


ACTS = st.sampled_from(["apply", "undo", "approve", "refuse", "tell", "wait", "leave", "come"])


@pytest.mark.slow
@settings(deadline=None, max_examples=plenty(20))
@given(st.lists(st.tuples(ACTS, st.sampled_from([0.0, 0.1, LOOK_SECONDS, 3.0])), max_size=8))
@example([("apply", 0.1), ("refuse", 3.0)])
@example([("leave", 0.0), ("apply", 3.0), ("come", 0.1), ("refuse", 3.0)])
def test_whatever_is_said_and_done_meanwhile_the_patch_is_settled_once_and_truly(
    story: list[tuple[str, float]],
) -> None:
    async def test(here: Stay, id: str, ann: Screen, files: Files) -> None:  # noqa: A002
        bob = Screen("bob")
        await here.connect(bob, id)
        said = False
        for act, pause in [*story, ("approve", 3.0)]:
            match act:
                case "apply" | "undo":
                    files.save("a.py", AFTER if act == "apply" else BASE)
                case "approve" | "refuse":
                    said = True
                    await bob.answer("p1", approved=act == "approve")
                case "tell" if ann.seat is not None:
                    said = True
                    await ann.say({"type": "client.patch_apply_result", "patch_id": "p1", "success": True})
                case "leave":
                    await here.drop(ann)
                case "come" if ann.seat is None:
                    await here.connect(ann, id, ann.last)
            await trio.sleep(pause)
            if act == "apply" and not said and not ann.gone and pause > 3 * LOOK_SECONDS:
                assert bob.of("approval.resolved")
        await over(bob)
        (resolved,) = bob.of("approval.resolved")
        ((name, approved, by, _),) = settled(here)
        assert (name, approved, by) == ("p1", resolved["approved"], resolved["by"])
        assert [each["seq"] for each in bob.events] == sorted({each["seq"] for each in bob.events})

    play(test)
