"""Undoing a turn, and doing it again: exactly what the turn has touched, and nothing that anybody else has done since.

The files are in memory, and the store on paper, so that both can be killed anywhere.
"""

import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.agent.given import FileImage, FileModified, FileRefused, FileReplacement
from actors.agent.images import Images
from actors.agent.log import SessionLog
from actors.agent.messages import LogEntry
from actors.agent.undo_plans import touched, undone_after
from actors.agent.undoing import HELD_UP, SMALL, Differ, undo
from actors.kernel import Registry
from actors.kernel.testing import run_in_virtual_time, staged
from actors.store import StoreFull, all_of
from codec.agent.action_events import CommandFinished, FileChanged, TurnUndone
from codec.agent.approvals import UndoReport, UndoWish
from codec.agent.events import LogEvent, Thinking, Token
from codec.agent.files import digest_of
from codec.agent.kept import SessionRow, TurnMark
from codec.agent.sessions import SessionFact
from tests.agent.paper_store import PaperDisk, paper_spec
from tests.plenty import plenty

FACT = SessionFact(id="s", workspace_id="w", created_at="2026-01-01T00:00:00.000Z", updated_at="")
Files = dict[str, bytes]


class Killed(Exception):
    """Here the process ended."""


class MemoryHands:
    def __init__(self, files: Files) -> None:
        self.files = files
        self.modes: dict[str, int] = {}
        self.left: int | None = None
        """After so many files it is killed."""
        self.refused: set[str] = set()
        self.groups: list[int] = []
        self.cleared: list[tuple[str, ...]] = []
        self.held_up = False
        """A write that was given up is still under way."""
        self.full: set[str] = set()
        """Folders in which something is left."""

    async def images(self, paths: Sequence[str]) -> Sequence[FileImage | FileRefused | None]:
        return [
            FileRefused(f"{path} may not be read.")
            if path in self.refused
            else FileImage(path, self.files[path], self.modes.get(path, 0o644))
            if path in self.files
            else None
            for path in paths
        ]

    async def clear(self, folders: Sequence[str]) -> Sequence[str]:
        self.cleared.append(tuple(folders))
        return [folder for folder in folders if folder not in self.full]

    def refusals(self, contents: Sequence[tuple[str, bytes | None]]) -> Sequence[FileRefused | None]:
        return [None] * len(contents)

    async def rested(self) -> None:
        if self.held_up:
            await trio.sleep_forever()

    async def change(
        self, changes: Sequence[FileReplacement], made: list[str] | None = None
    ) -> Sequence[str | FileRefused | None]:
        self.groups.append(len(changes))
        return [self._change(each) for each in changes]

    def _change(self, change: FileReplacement) -> str | FileRefused | None:
        if self.left is not None:
            if self.left == 0:
                raise Killed
            self.left -= 1
        now = self.files.get(change.path)
        if (None if now is None else digest_of(now)) != change.before:
            return FileModified(f"{change.path} has changed since it was read.")
        if change.data is None:
            self.files.pop(change.path, None)
            self.modes.pop(change.path, None)
            return None
        self.files[change.path] = change.data
        if change.mode is not None:
            self.modes[change.path] = change.mode
        return digest_of(change.data)


@dataclass
class Desk:
    """A session's log and row, its files, and what its turns do with them."""

    registry: Registry
    disk: PaperDisk
    hands: MemoryHands = field(default_factory=lambda: MemoryHands({}))
    row: SessionRow = field(default_factory=lambda: SessionRow(fact=FACT))
    position: int = 0
    number: int = 0
    killed_at: str = ""

    def __post_init__(self) -> None:
        self.log = SessionLog(self.registry, "s")
        self.images = Images(self.registry, "s")

    @property
    def files(self) -> Files:
        return self.hands.files

    async def say(self, *events: LogEvent) -> None:
        entries = []
        for event in events:
            self.number += 1
            entries.append(LogEntry(self.number, event))
        self.position = await self.log.keep(entries, self.row, self.position)

    async def change(
        self,
        turn: str,
        path: str,
        data: bytes | None,
        status: str = "done",
        *,
        mode: int = 0o644,
        folders: tuple[str, ...] = (),
    ) -> None:
        """As a turn does it. `status`: done, failed, or, after a kill: never (it was not) or silent (it was)."""
        before = self.files.get(path)
        self.number += 1
        begun = FileChanged(
            change_id=f"c{self.number}",
            turn_id=turn,
            file_path=path,
            action="modify",
            status="begun",
            before=None if before is None else await self.images.keep(before),
            after=None if data is None else await self.images.keep(data),
            before_hash=None if before is None else digest_of(before),
            after_hash=None if data is None else digest_of(data),
            mode=self.hands.modes.get(path, mode),
        )
        await self.say(begun)
        if status in ("done", "silent"):
            assert not isinstance(self.hands._change(FileReplacement(path, begun.before_hash, data, mode)), FileRefused)
        if status in ("done", "failed"):
            await self.say(replace(begun, status=status, folders=folders))

    async def keep(self, event: TurnUndone) -> None:
        if self.killed_at == ("begun" if event.begun else "over"):
            raise Killed
        self.row = replace(self.row, undone=undone_after(self.row.undone, event))
        await self.say(event)
        if self.killed_at == ("after begun" if event.begun else "after over"):
            raise Killed

    async def undo(
        self,
        turn: str | None = None,
        *,
        redo: bool = False,
        preview: bool = False,
        differ: Differ = lambda path, before, after: f"{path}: {before!r} -> {after!r}",
    ) -> UndoReport:
        return await undo(
            self.log,
            self.images,
            self.hands,
            self.row,
            UndoWish(turn_id=turn, preview=preview),
            redo,
            by="me",
            differ=differ,
            keep=self.keep,
        )


@asynccontextmanager
async def desk(**files: bytes) -> AsyncIterator[Desk]:
    disk = PaperDisk(seconds=lambda: 0.0)
    async with staged(paper_spec(disk)) as house:
        yield Desk(house.stage.registry, disk, MemoryHands(dict(files)))


def with_desk(test: Callable[[Desk], Awaitable[None]], **files: bytes) -> None:
    async def run() -> None:
        async with desk(**files) as at:
            await test(at)

    run_in_virtual_time(run)


def outcomes(report: UndoReport) -> dict[str, str]:
    return {file.file_path: f"{file.action} {file.outcome}" for file in report.files}


def reasons(report: UndoReport) -> dict[str, str]:
    return {file.file_path: file.reason for file in report.files if file.reason}


# -- one turn


def test_a_turn_is_undone_and_done_again_with_all_its_files() -> None:
    async def test(at: Desk) -> None:
        await at.change("t", "edited", b"2")
        await at.change("t", "edited", b"3")
        await at.change("t", "made", b"new", mode=0o755)
        await at.change("t", "deleted", None)
        await at.change("t", "made and deleted", b"x")
        await at.change("t", "made and deleted", None)
        after = dict(at.files)
        report = await at.undo()
        assert (report.turn_id, report.preview, at.row.undone) == ("t", False, ("t",))
        assert at.files == {"edited": b"1", "deleted": b"old", "other": b"other"}
        assert outcomes(report) == {
            "edited": "restore done",
            "made": "delete done",
            "deleted": "create done",
            "made and deleted": "delete unchanged",
        }
        assert report.message == "3 files are again as before the turn. 1 file is so already."
        report = await at.undo(redo=True)
        assert (report.turn_id, report.redo, at.row.undone) == ("t", True, ())
        assert at.files == after
        assert at.hands.modes["made"] == 0o755
        assert report.message == "3 files are again as the turn left them. 1 file is so already."
        assert at.hands.groups == [3, 3], "in one group each"

    with_desk(test, edited=b"1", deleted=b"old", other=b"other")


def test_what_the_turns_commands_have_done_is_said_to_stay() -> None:
    async def test(at: Desk) -> None:
        await at.say(CommandFinished(command_id="other-c1"))
        await at.change("t", "a", b"2")
        await at.say(
            CommandFinished(command_id="t-c2", ended="not_started"),
            *(CommandFinished(command_id="t-c3", by="client"), CommandFinished(command_id="t-c3", by="client")),
        )
        stays = "The turn has also run 1 command: what it changed stays as it is."
        assert (await at.undo(preview=True)).message == f"1 file would be again as before the turn. {stays}"
        assert (await at.undo()).message == f"1 file is again as before the turn. {stays}"
        again = "1 file is again as the turn left it. The turn has also run 1 command, which is not run again."
        assert (await at.undo(redo=True)).message == again
        await at.say(CommandFinished(command_id="t-c4", ended="cancelled"))
        assert (await at.undo()).message.endswith("also run 2 commands: what they changed stays as it is.")

    with_desk(test, a=b"1")


def test_a_preview_says_the_same_with_diffs_and_changes_nothing() -> None:
    async def test(at: Desk) -> None:
        await at.change("t", "a", b"2")
        await at.change("t", "b", b"new")
        before, length = dict(at.files), at.position
        report = await at.undo(preview=True)
        assert (at.files, at.position, at.row.undone, at.hands.groups) == (before, length, (), [])
        assert report.preview
        assert outcomes(report) == {"a": "restore would", "b": "delete would"}
        assert [file.diff for file in report.files] == ["a: b'2' -> b'1'", "b: b'new' -> None"]
        assert report.message == "2 files would be again as before the turn."
        assert {path: outcome.replace("done", "would") for path, outcome in outcomes(await at.undo()).items()} == {
            "a": "restore would",
            "b": "delete would",
        }

    with_desk(test, a=b"1")


@pytest.mark.parametrize(("limit", "shown"), [(15, 0), (16, 1), (30, 1), (31, 2), (46, 3)])
def test_a_preview_s_diffs_have_a_limit(monkeypatch: pytest.MonkeyPatch, limit: int, shown: int) -> None:
    monkeypatch.setattr("actors.agent.undoing.DIFF_CHARACTERS", limit)

    async def test(at: Desk) -> None:
        for path in "abc":
            await at.change("t", path, b"2")
        files = (await at.undo(preview=True)).files
        assert [len(each.diff) for each in files] == [15] * shown + [0] * (3 - shown)
        assert ["too long" in each.reason for each in files] == [False] * shown + [True] * (3 - shown)
        assert {each.outcome for each in files} == {"would"}

    with_desk(test, a=b"1", b=b"1", c=b"1")


def test_what_it_undoes_is_in_the_log_before_and_after() -> None:
    async def test(at: Desk) -> None:
        await at.change("t", "a", b"2")
        await at.undo()
        begun, over = [entry.event for entry in await at.log.entries() if isinstance(entry.event, TurnUndone)]
        assert (begun.begun, [file.outcome for file in begun.files]) == (True, ["would"])
        assert (over.begun, [file.outcome for file in over.files], over.by) == (False, ["done"], "me")

    with_desk(test, a=b"1")


@pytest.mark.parametrize("status", ["failed", "never"])
def test_a_change_that_did_not_happen_is_not_undone(status: str) -> None:
    async def test(at: Desk) -> None:
        await at.change("t", "a", b"2")
        await at.change("t", "a", b"3", status)
        await at.change("t", "b", b"2", status)
        await at.undo()
        assert at.files == {"a": b"1", "b": b"1"}

    with_desk(test, a=b"1", b=b"1")


def test_a_change_that_happened_though_nobody_could_say_so_is_undone() -> None:
    async def test(at: Desk) -> None:
        await at.change("t", "a", b"2", "silent")
        await at.change("t", "b", b"2", "silent")
        await at.change("t", "c", None, "silent")
        assert outcomes(await at.undo()) == {"a": "restore done", "b": "delete done", "c": "create done"}
        assert at.files == {"a": b"1", "c": b"1"}

    with_desk(test, a=b"1", c=b"1")


# -- what is refused


def test_what_somebody_has_changed_since_is_refused_and_the_others_are_done() -> None:
    async def test(at: Desk) -> None:
        for path in ("edited", "deleted", "unreadable", "fine"):
            await at.change("t", path, b"2")
        at.files["edited"] = b"by hand"
        del at.files["deleted"]
        at.hands.refused.add("unreadable")
        report = await at.undo()
        assert at.files == {"edited": b"by hand", "unreadable": b"2", "fine": b"1"}
        assert reasons(report) == {
            "edited": "It has been changed since.",
            "deleted": "It has been deleted since.",
            "unreadable": "unreadable may not be read.",
        }
        assert report.message == "1 file is again as before the turn. 3 files are left alone, each for its reason."
        assert at.row.undone == ("t",)
        at.files["edited"] = b"2"
        assert outcomes(await at.undo("t"))["edited"] == "restore done", "the user has taken it back"

    with_desk(test, edited=b"1", deleted=b"1", unreadable=b"1", fine=b"1")


def test_what_somebody_changed_in_the_middle_of_the_turn_is_not_lost() -> None:
    async def test(at: Desk) -> None:
        await at.change("t", "a", b"2")
        at.files["a"] = b"2 by hand"
        await at.change("t", "a", b"3 by hand")
        report = await at.undo()
        assert at.files == {"a": b"3 by hand"}
        assert "Somebody else" in reasons(report)["a"]
        assert at.row.undone == ()

    with_desk(test, a=b"1")


def test_a_file_that_a_later_turn_has_changed_waits_for_that_one() -> None:
    async def test(at: Desk) -> None:
        await at.change("t1", "a", b"2")
        await at.change("t1", "b", b"2")
        await at.change("t2", "a", b"3")
        report = await at.undo("t1")
        assert outcomes(report) == {"a": "restore refused", "b": "restore done"}
        assert reasons(report)["a"] == "A later turn has changed it, too. Undo that turn first."
        assert (await at.undo()).turn_id == "t2"
        assert at.files == {"a": b"2", "b": b"1"}
        assert outcomes(await at.undo("t1")) == {"a": "restore done", "b": "restore unchanged"}
        assert at.files == {"a": b"1", "b": b"1"}

    with_desk(test, a=b"1", b=b"1")


def test_turns_are_undone_from_the_last_to_the_first_and_done_again_in_turn() -> None:
    async def test(at: Desk) -> None:
        for number in "123":
            await at.change(f"t{number}", "a", number.encode())
        assert [(await at.undo()).turn_id for _ in range(4)] == ["t3", "t2", "t1", None]
        assert at.files == {"a": b"0"}
        assert (await at.undo()).message == "There is no turn that could be undone."
        assert [(await at.undo(redo=True)).turn_id for _ in range(4)] == ["t1", "t2", "t3", None]
        assert at.files == {"a": b"3"}
        assert (await at.undo(redo=True)).message == "No turn is undone."

    with_desk(test, a=b"0")


def test_after_other_work_nothing_is_done_again_over_it() -> None:
    async def test(at: Desk) -> None:
        await at.change("t1", "a", b"2")
        await at.undo()
        await at.change("t2", "a", b"other work")
        report = await at.undo(redo=True)
        assert outcomes(report) == {"a": "restore refused"}
        assert at.files == {"a": b"other work"}
        assert at.row.undone == ("t1",)

    with_desk(test, a=b"1")


def test_an_image_that_is_not_there_is_told() -> None:
    async def test(at: Desk) -> None:
        await at.change("t", "a", b"2")
        await at.change("t", "b", b"2")
        changes = [each for each in await at.log.deeds() if isinstance(each, FileChanged)]
        (change,) = [each for each in changes if (each.file_path, each.status) == ("a", "done")]
        assert change.before is not None
        del at.disk.paper.blobs[change.before]
        assert outcomes(await at.undo(preview=True)) == {"a": "restore refused", "b": "delete would"}
        assert outcomes(await at.undo()) == {"a": "restore refused", "b": "delete done"}
        told = FileChanged(
            change_id="x", turn_id="u", file_path="c", action="modify", status="done", before_hash="sha256:0",
            after_hash=digest_of(b"1"),
        )  # fmt: skip
        await at.say(told)
        at.files["c"] = b"1"
        assert reasons(await at.undo("u")) == {"c": "What it held then is not kept."}

    with_desk(test, a=b"1")


def test_what_cannot_be_undone_is_told_in_a_sentence() -> None:
    async def test(at: Desk) -> None:
        assert (await at.undo()).message == "There is no turn that could be undone."
        assert (await at.undo("nobody")).message == "This turn has changed no file, or there is no such turn."
        await at.change("t", "a", b"2")
        at.row = replace(at.row, turn=TurnMark(turn_id="u", seq=1))
        report = await at.undo()
        assert (report.turn_id, report.message) == (
            None,
            "A turn is under way. Cancel it first, or wait for its end.",
        )
        at.row = replace(at.row, turn=None)

        async def hangs(paths: Sequence[str]) -> Sequence[FileImage | FileRefused | None]:
            raise FileRefused("The disk of /x does not answer.")

        at.hands.images = hangs  # type: ignore[method-assign]
        assert (await at.undo()).message == "The disk of /x does not answer."
        assert at.files == {"a": b"2"}

    with_desk(test, a=b"1")


@pytest.mark.slow
@settings(max_examples=plenty(15))
@given(
    st.lists(st.tuples(st.integers(0, 12), st.sampled_from(["edited", "edited", "deleted", "lost"])), max_size=14)
)
@example([(5, "edited"), (11, "edited"), (0, "deleted"), (12, "edited")])
@example([(1, "edited")] * 9)
def test_files_are_put_back_in_groups_of_a_size_and_each_gets_its_own_bytes(files: list[tuple[int, str]]) -> None:
    """`files`: how many bytes each held beside two of its own, and what has become of it."""
    held = {f"f{number:02}": b"%02d" % number + b"x" * size for number, (size, _) in enumerate(files)}
    became = dict(zip(held, (each for _, each in files), strict=True))
    strokes: list[list[tuple[str, int | None]]] = []

    async def test(at: Desk) -> None:
        at.hands.modes = dict.fromkeys(held, 0o100640)
        for path, fate in became.items():
            await at.change("t", path, None if fate == "deleted" else b"new")
        for change in await at.log.deeds():
            if isinstance(change, FileChanged) and became[change.file_path] == "lost" and change.status == "done":
                assert change.before is not None
                del at.disk.paper.blobs[change.before]
        plain = at.hands.change

        async def change_some(changes: Sequence[FileReplacement]) -> Sequence[str | FileRefused | None]:
            strokes.append([(each.path, each.mode) for each in changes])
            return await plain(changes)

        at.hands.change = change_some  # type: ignore[method-assign, assignment]
        would = await at.undo(preview=True)
        done = await at.undo()
        assert [each.file_path for each in done.files] == [each.file_path for each in would.files] == list(held)
        for path, seen, told in zip(held, would.files, done.files, strict=True):
            if became[path] == "lost":
                assert (seen.outcome, told.outcome, at.files[path]) == ("refused", "refused", b"new")
            else:
                assert (seen.outcome, told.outcome, at.files[path]) == ("would", "done", held[path])
                now = None if became[path] == "deleted" else b"new"
                assert seen.diff == f"{path}: {now!r} -> {held[path]!r}"
        expected: list[list[tuple[str, int | None]]] = []
        size = 0
        for path, fate in became.items():
            if fate != "lost":
                if not expected or len(expected[-1]) == 4 or size + len(held[path]) > 20:
                    expected.append([])
                    size = 0
                expected[-1].append((path, 0o640 if fate == "deleted" else None))
                size += len(held[path])
        assert strokes == expected

    with pytest.MonkeyPatch.context() as patching:
        for name, most in (("READ_AT_ONCE", 3), ("GROUP_FILES", 4), ("GROUP_BYTES", 20)):
            patching.setattr(f"actors.agent.undoing.{name}", most)
        with_desk(test, **held)


@pytest.mark.parametrize(("size", "is_beside"), [(SMALL, False), (SMALL + 1, True)])
def test_the_diff_of_large_files_is_made_beside_the_loop(size: int, is_beside: bool) -> None:
    here, seen = threading.get_ident(), list[bool]()

    def differ(path: str, before: bytes | None, after: bytes | None) -> str:
        seen.append(threading.get_ident() != here)
        return path

    async def test() -> None:
        async with desk(a=b"x" * (size - 3), b=b"x" * size) as at:
            await at.change("t", "a", b"new")
            await at.change("t", "b", None)
            await at.undo(preview=True, differ=differ)
            assert seen == [is_beside] * 2

    trio.run(test)


# -- kills


@pytest.mark.parametrize("redo", [False, True])
@pytest.mark.parametrize("moment", ["begun", "after begun", 0, 1, 2, "over", "after over"])
def test_after_a_kill_at_any_moment_the_same_again_completes_it(moment: str | int, redo: bool) -> None:
    async def test(at: Desk) -> None:
        before = dict(at.files)
        await at.change("t", "a", b"2")
        await at.change("t", "b", b"new")
        await at.change("t", "c", None)
        after = dict(at.files)
        if redo:
            await at.undo()
        if isinstance(moment, int):
            at.hands.left = moment
        else:
            at.killed_at = moment
        with pytest.raises(Killed):
            await at.undo(redo=redo)
        at.hands.left, at.killed_at = None, ""
        report = await at.undo("t", redo=redo)
        assert report.turn_id == "t"
        assert {file.outcome for file in report.files} <= {"done", "unchanged"}
        assert at.files == (after if redo else before)
        assert at.row.undone == (() if redo else ("t",))
        assert (await at.log.row()) == at.row

    with_desk(test, a=b"1", c=b"1")


def test_the_same_again_adds_nothing_to_the_log() -> None:
    async def test(at: Desk) -> None:
        await at.change("t", "a", b"2")
        await at.undo("t")
        length = at.position
        assert outcomes(await at.undo("t")) == {"a": "restore unchanged"}
        assert at.position == length

    with_desk(test, a=b"1")


def test_a_store_that_is_full_keeps_it_from_beginning() -> None:
    async def test(at: Desk) -> None:
        await at.change("t", "a", b"2")
        at.disk.full = True
        with pytest.raises(StoreFull):
            await at.undo()
        assert at.files == {"a": b"2"}

    with_desk(test, a=b"1")


# -- any story

paths = st.sampled_from("abc")
contents = st.one_of(st.none(), st.sampled_from([b"1", b"2", b"3"]))
Act = tuple[str, Any]
acts = st.one_of(
    st.tuples(
        st.just("turn"),
        st.lists(st.tuples(paths, contents, st.sampled_from(["done"] * 5 + ["failed"])), min_size=1, max_size=5),
        st.sampled_from(["done", "done", "silent", "never"]),
    ),
    st.tuples(st.just("edit"), paths, contents),
    st.tuples(
        st.sampled_from(["undo", "redo"]),
        st.one_of(st.none(), st.integers(0, 5)),
        st.one_of(st.none(), st.none(), st.integers(0, 2), st.sampled_from(["begun", "after begun", "over"])),
    ),
)


@pytest.mark.slow
@settings(max_examples=plenty(100), deadline=None)
@given(st.lists(acts, max_size=14))
@example([("turn", [("a", b"1", "done")], "done"), ("undo", None, 0), ("edit", "a", b"2"), ("undo", None, None)])
def test_in_any_story_only_what_a_turn_touched_is_restored_and_nothing_else_is_lost(story: list[Any]) -> None:
    async def test(at: Desk) -> None:
        for number, act in enumerate(story):
            match act:
                case ("edit", path, data):
                    if data is None:
                        at.files.pop(path, None)
                    else:
                        at.files[path] = data
                case ("turn", changes, last):
                    for place, (path, data, status) in enumerate(changes):
                        ends = last if place == len(changes) - 1 else status
                        await at.change(f"t{number}", path, data, ends)
                case (kind, which, kill):
                    turns = list(touched(await at.log.deeds()))
                    turn = turns[which % len(turns)] if which is not None and turns else None
                    await check_undo(at, turn, kind == "redo", kill)

    with_desk(test, a=b"1", b=b"2")


async def check_undo(at: Desk, turn: str | None, redo: bool, kill: Any) -> None:
    before = dict(at.files)
    preview = await at.undo(turn, redo=redo, preview=True)
    assert at.files == before
    turn = preview.turn_id
    if turn is None:
        assert (await at.undo(turn, redo=redo)).turn_id is None
        assert at.files == before
        return
    parts = touched(await at.log.deeds())[turn]
    kept = {digest_of(data): data for data in (b"1", b"2", b"3")}
    if kill is not None:
        at.hands.left = kill if isinstance(kill, int) else None
        at.killed_at = kill if isinstance(kill, str) else ""
        try:
            await at.undo(turn, redo=redo)
        except Killed:
            for path in before.keys() | at.files.keys():
                assert at.files.get(path) == before.get(path) or path in parts
        at.hands.left, at.killed_at = None, ""
    report = await at.undo(turn, redo=redo)
    assert report.turn_id == turn
    expected = dict(before)
    for would, file in zip(preview.files, report.files, strict=True):
        part = parts[file.file_path]
        target = part.lasts[0].digest if redo else part.first.digest
        known = [part.first.digest] if redo else [last.digest for last in part.lasts]
        held = before.get(file.file_path)
        now = None if held is None else digest_of(held)
        match would.outcome:
            case "would":
                assert now in known
                assert not part.broken
                assert file.outcome in (("done",) if kill is None else ("done", "unchanged"))
                expected.pop(file.file_path, None)
                if target is not None:
                    expected[file.file_path] = kept[target]
            case "unchanged":
                assert now == target
                assert file.outcome == "unchanged"
            case _:
                assert now not in known or part.broken
                assert file.outcome == "refused"
                assert file.reason.endswith(".")
    assert at.files == expected
    assert (await at.log.row() or at.row) == at.row


# -- folders


def test_with_its_files_go_the_folders_that_the_turn_has_made_and_no_others() -> None:
    """Which of them are empty, the disk knows."""

    async def test(at: Desk) -> None:
        await at.change("t", "new/deep/a", b"1", folders=("new", "new/deep"))
        await at.change("t", "new/b", b"1")
        await at.change("t", "there/c", b"1")
        await at.change("later", "other/d", b"1", folders=("other",))
        at.hands.full.add("new")
        report = await at.undo("t", preview=True)
        assert at.hands.cleared == []
        report = await at.undo("t")
        assert at.hands.cleared == [("new", "new/deep")]
        assert report.message == "3 files are again as before the turn. 1 folder that the turn had made is removed."
        await at.undo("t")
        assert len(at.hands.cleared) == 1
        await at.undo("later")
        assert at.hands.cleared[1:] == [("other",)]

    with_desk(test)


def test_a_folder_stays_with_a_file_that_is_refused() -> None:
    async def test(at: Desk) -> None:
        await at.change("t", "new/a", b"1", folders=("new",))
        at.files["new/a"] = b"mine"
        await at.undo("t")
        assert at.hands.cleared == []

    with_desk(test)


# -- a disk that hangs


@pytest.mark.parametrize("preview", [True, False])
def test_while_a_write_that_was_given_up_may_still_come_nothing_is_undone(preview: bool) -> None:
    async def test(at: Desk) -> None:
        await at.change("t", "a", b"2")
        at.hands.held_up = True
        report = await at.undo(preview=preview)
        assert (report.turn_id, report.files, report.message) == (None, (), HELD_UP)
        assert at.hands.files == {"a": b"2"}
        at.hands.held_up = False
        assert (await at.undo(preview=preview)).turn_id == "t"

    with_desk(test, a=b"1")


# -- images


def test_images_belong_to_their_session_and_go_with_it() -> None:
    async def test(at: Desk) -> None:
        other = Images(at.registry, "other")
        mine = [await at.images.keep(data) for data in (b"", b"x", b"x", b"\0" * 2_000_000)]
        theirs = await other.keep(b"x")
        assert len({*mine, theirs}) == 4
        assert await at.images.get_all(mine) == [b"", b"x", b"x", b"\0" * 2_000_000]
        assert await at.images.get(theirs) is None
        assert await at.images.get("none") is None
        await at.say(Token(token="a"), Thinking(phase="planning", message="é" * 1_100_000))
        await at.change("t", "a", b"2")
        await at.log.remove()
        assert list(at.disk.paper.blobs) == [theirs]
        spaces = ("agent/image", "agent/image-in-doubt")
        assert list(at.disk.paper.pairs) == [(space, f"other/{theirs}") for space in spaces]
        assert at.disk.paper.streams == {}
        assert await other.get(theirs) == b"x"

    with_desk(test, a=b"1")


def test_more_images_than_a_page_go_with_their_session(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(at: Desk) -> None:
        await all_of((b"%d" % number for number in range(2_300)), at.images.keep)
        assert len(at.disk.paper.blobs) == 2_300
        await at.images.drop()
        assert (at.disk.paper.blobs, at.disk.paper.pairs) == ({}, {})

    with_desk(test)


def test_an_image_that_is_not_stored_is_told() -> None:
    async def test(at: Desk) -> None:
        at.disk.full = True
        with pytest.raises(StoreFull):
            await at.images.keep(b"x")
        with pytest.raises(StoreFull):
            await all_of([b"x", b"y"], at.images.keep)

    with_desk(test)


def test_of_a_log_only_changes_of_files_and_ends_of_commands_are_read() -> None:
    async def test(at: Desk) -> None:
        await at.say(*(Token(token=f"{number}") for number in range(50)))
        await at.change("t", "a", b"2")
        await at.say(Thinking(phase="planning", message='e1 {"type":"file.changed"' + "x" * 1_100_000))
        await at.say(CommandFinished(command_id="t-c1"))
        *changes, end = await at.log.deeds()
        assert [getattr(change, "status", None) for change in changes] == ["begun", "done"]
        assert isinstance(end, CommandFinished)

    with_desk(test, a=b"1")


# -- turns that only ran commands


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize(
    ("deeds", "undone", "told"),
    [
        ("f1 c2", (), ("The last turn has run 1 command and", "what it changed stays", "name its turn_id: t1.")),
        ("f1 c2 c2", (), ("The last turn has run 2 commands and", "what they changed stays", "name its turn_id: t1.")),
        ("c1", (), ("The last turn has run 1 command and",)),
        ("f1 c2 f3", ("t3",), ("The last turn that is not undone has run 1 command", "name its turn_id: t1.")),
        ("f1 c2", ("t1",), ("The last turn has run 1 command and",)),
    ],
)
def test_whoever_undoes_the_last_turn_is_told_if_that_has_only_run_commands_and_nothing_is_undone(
    deeds: str, undone: tuple[str, ...], told: tuple[str, ...], preview: bool
) -> None:
    async def test(at: Desk) -> None:
        await does(at, deeds)
        at.row = replace(at.row, undone=undone)
        files = dict(at.hands.files)
        report = await at.undo(preview=preview)
        assert (report.turn_id, report.files) == (None, ())
        for words in told:
            assert words in report.message
        assert ("name its turn_id" in report.message) == any("name" in words for words in told)
        assert at.hands.files == files
        if "name" in told[-1]:
            assert (await at.undo("t1", preview=preview)).turn_id == "t1"

    with_desk(test, a=b"0")


@pytest.mark.parametrize(
    ("deeds", "undone", "taken"),
    [
        ("f1 f2", (), "t2"),
        ("c1 f2", (), "t2"),
        ("f1 f2 c2", (), "t2"),
        ("f1 n2", (), "t1"),
        ("f1 c2 f3", (), "t3"),
        ("f1 f2 c2", ("t2",), "t1"),
    ],
)
def test_a_turn_that_has_changed_files_is_undone_also_if_it_has_run_commands(
    deeds: str, undone: tuple[str, ...], taken: str
) -> None:
    async def test(at: Desk) -> None:
        await does(at, deeds)
        at.row = replace(at.row, undone=undone)
        assert (await at.undo(preview=True)).turn_id == taken

    with_desk(test, a=b"0")


async def does(at: Desk, deeds: str) -> None:
    """f: changes a file; c: runs a command; n: a command that could not be started; each with the turn's number."""
    for number, deed in enumerate(deeds.split()):
        kind, turn = deed[0], deed[1:]
        if kind == "f":
            await at.change(f"t{turn}", "a", turn.encode())
        else:
            ended: Any = "exited" if kind == "c" else "not_started"
            await at.say(CommandFinished(command_id=f"t{turn}-c{number}", ended=ended))
