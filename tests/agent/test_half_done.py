"""Of a change that had only begun when its turn ended, the file tells whether it was done."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
import trio
import trio.testing

from actors.agent.given import FileImage, FileRefused
from actors.agent.half_done import NOT_DONE, NOT_KNOWN, FileNow, ends
from actors.kernel import Registry
from actors.kernel.testing import run_in_virtual_time
from codec.agent.action_events import FileChanged, PatchApplied
from tests.agent.paper_store import PaperDisk
from tests.agent.session_kit import Asks, Screen, Stay, patch, stay, until
from tests.agent.test_approvals import asked, over

OLD, NEW, OTHER = (FileImage("a.py", data, 0o644) for data in (b"old\n", b"new\n", b"other\n"))


def change(**more: Any) -> FileChanged:
    given = {"before_hash": OLD.digest, "after_hash": NEW.digest, "patch_id": "p1", **more}
    return FileChanged(
        change_id="p1.1", turn_id="t", file_path="a.py", action="modify", status="begun", mode=0o644, **given
    )


@pytest.mark.parametrize(
    ("begun", "now", "told"),
    [
        (change(), NEW, "done"),
        (change(), OLD, "failed"),
        (change(), OTHER, None),
        (change(), None, None),
        (change(), FileRefused("The disk does not answer."), None),
        (change(before_hash=None), NEW, "done"),
        (change(before_hash=None), None, "failed"),
        (change(after_hash=None), None, "done"),
        (change(after_hash=None), OLD, "failed"),
    ],
)
def test_the_file_tells_what_became_of_a_change(begun: FileChanged, now: FileNow, told: str | None) -> None:
    found = ends([begun], [now])
    assert [event.status for event in found if isinstance(event, FileChanged)] == ([] if told is None else [told])
    applied = [event for event in found if isinstance(event, PatchApplied)]
    assert [each.applied_hash for each in applied] == ([begun.after_hash] if told == "done" else [])


def test_a_deletion_that_was_no_patch_is_told_without_one() -> None:
    (event,) = ends([change(after_hash=None, patch_id=None)], [None])
    assert isinstance(event, FileChanged)
    assert event.status == "done"


class Disk:
    """Files as they are now."""

    def __init__(self, now: FileNow, error: Exception | None = None, *, hangs: bool = False) -> None:
        self.now = now
        self._error = error
        self._answers = trio.Event()
        if not hangs:
            self._answers.set()
        self.tries: list[float] = []
        """The moments."""

    def answer(self) -> None:
        self._answers.set()

    async def look(self, registry: Registry, workspace_id: str, paths: Sequence[str]) -> Sequence[FileNow]:
        assert (workspace_id, paths) == ("w", ["a.py"])
        self.tries.append(trio.current_time())
        await self._answers.wait()
        if self._error is not None:
            raise self._error
        return [self.now]


async def begin_a_change(here: Stay, ann: Screen) -> None:
    """A turn begins to act upon its patch, which was approved, and comes no further."""

    async def never(*args: object) -> None:
        await trio.sleep_forever()

    await ann.ask("go")
    await asked(ann, 1)
    here.made[0]._act_upon = never  # type: ignore[method-assign, assignment]
    await ann.answer("p1")
    assert await here.made[0]._keep(change(), begun=["p1"])


@pytest.mark.parametrize("by", ["a kill", "a cancel"])
@pytest.mark.parametrize(
    ("disk", "told", "modified"),
    [
        (Disk(NEW), ["begun", "done"], 1),
        (Disk(OLD), ["begun", "failed"], 0),
        (Disk(OTHER), ["begun"], 0),
        (Disk(NEW, FileRefused("The workspace is gone.")), ["begun"], 0),
        (Disk(NEW, hangs=True), ["begun", "unknown"], 0),
    ],
)
def test_before_its_last_word_a_turn_that_was_broken_off_tells_which_changes_were_done(
    disk: Disk, told: list[str], modified: int, by: str
) -> None:
    ids = itertools.count(1)

    async def test() -> None:
        async with stay(script=(Asks((patch("p1"),)),), ids=ids, files_now=disk.look) as here:
            fact = await here.create()
            ann = Screen("ann")
            await here.connect(ann, fact.id)
            await begin_a_change(here, ann)
            if by == "a cancel":
                await ann.cancel()
                await ended(ann)
                return
            paper = here.disk.paper.copy()
        async with stay(PaperDisk(paper), ids=ids, files_now=disk.look) as here:
            ann = Screen("ann")
            await here.connect(ann, fact.id, 0)
            await ended(ann)

    async def ended(ann: Screen) -> None:
        final = await over(ann)
        assert final["metadata"]["interrupted" if by == "a kill" else "cancelled"]
        assert final["metadata"]["files_modified"] == modified
        assert [each["status"] for each in ann.of("file.changed")] == told
        assert [each["patch_id"] for each in ann.of("patch.applied")] == ["p1"] * modified
        assert ann.state["applied_patches"] == ["p1"] * modified

    run_in_virtual_time(test)


@pytest.mark.parametrize("in_a_turn", [False, True])
@pytest.mark.parametrize(
    ("now", "told", "applied"),
    [
        (NEW, ["begun", "unknown", "done"], 1),
        (OLD, ["begun", "unknown", "failed"], 0),
        (OTHER, ["begun", "unknown"], 0),
    ],
)
def test_a_cancel_is_said_while_the_disk_hangs_and_what_became_of_the_change_when_it_answers(
    now: FileNow, told: list[str], applied: int, in_a_turn: bool
) -> None:
    """`in_a_turn`: the next turn is under way then."""
    disk = Disk(now, hangs=True)

    async def test() -> None:
        async with stay(script=(Asks((patch("p1"),)), Asks((patch("p2"),))), files_now=disk.look) as here:
            fact = await here.create()
            ann = Screen("ann")
            await here.connect(ann, fact.id)
            await begin_a_change(here, ann)
            began = trio.current_time()
            await ann.cancel()
            await until(lambda: ann.of("assistant.message_final"))
            assert trio.current_time() - began <= 0.2
            assert (await over(ann))["metadata"]["files_modified"] == 0
            assert ann.of("file.changed")[-1]["error"] == NOT_KNOWN
            if in_a_turn:
                await ann.ask("again")
                await asked(ann, 1)
            disk.answer()
            await trio.sleep(1)
            assert [each["status"] for each in ann.of("file.changed")] == told
            assert [each["patch_id"] for each in ann.of("patch.applied")] == ["p1"] * applied
            assert ann.state["applied_patches"] == ["p1"] * applied
            assert ann.state["running"] == in_a_turn
            assert all(each.get("error") in (None, NOT_KNOWN, NOT_DONE) for each in ann.of("file.changed"))

    run_in_virtual_time(test)


def test_a_disk_that_goes_on_failing_is_looked_at_now_and_then_until_the_session_rests() -> None:
    disk = Disk(NEW, hangs=True)

    async def test() -> None:
        async with stay(script=(Asks((patch("p1"),)),), files_now=disk.look) as here:
            fact = await here.create()
            ann = Screen("ann")
            await here.connect(ann, fact.id)
            await begin_a_change(here, ann)
            await ann.cancel()
            await over(ann)
            disk.now = FileRefused("The disk does not answer.")
            disk.answer()
            began, looks = trio.current_time(), len(disk.tries)
            await trio.sleep(600)
            moments = [round(moment - began) for moment in disk.tries[looks:]]
            assert moments == [1, 3, 7, 15, 31, 63, *range(123, 600, 60)]
            disk.now = NEW
            await trio.sleep(61)
            assert [each["status"] for each in ann.of("file.changed")] == ["begun", "unknown", "done"]
            tries = len(disk.tries)
            await trio.sleep(600)
            assert len(disk.tries) == tries

    run_in_virtual_time(test)
