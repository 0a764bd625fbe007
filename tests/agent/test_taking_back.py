"""Undo and redo at a session: never beside a turn, told and kept when done, refused in words."""

import contextlib
import json
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from msgspec.structs import replace

from actors.agent.client import ServerFacts
from actors.agent.desk import AgentDesk
from actors.agent.given import FileRefused, FileReplacement
from actors.agent.images import Images
from actors.agent.letting_go import LettingGo
from actors.agent.means import UndoOrder
from actors.agent.messages import DeleteSession
from actors.agent.taking_back import CLOSING_SECONDS
from actors.agent.undoing import undo_order
from actors.kernel import KernelError
from actors.kernel.testing import run_in_virtual_time
from actors.store import StoreError
from codec.agent.action_events import FileChanged, TurnUndone, UndoneFile
from codec.agent.approvals import UndoReport, UndoWish
from codec.agent.files import digest_of
from codec.agent.refusing import ContractRefusal
from tests.agent.paper_store import PaperDisk
from tests.agent.session_kit import Asks, Pause, Screen, Scripts, Stay, Tokens, patch, stay, until
from tests.agent.test_approvals import asked, kept_row, over
from transports.agent.tree import FolderTrees

TWO_TOKENS = (Tokens(2),)
DONE = UndoneFile(file_path="a.py", action="restore", outcome="done")


class PaperUndo:
    """Takes a second, and reports what it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[UndoWish, bool, tuple[str, ...]]] = []
        self.disk = PaperDisk()
        self.trouble: Exception | None = None
        self.under_way = 0

    async def __call__(self, order: UndoOrder) -> UndoReport:
        self.asked.append((order.wish, order.redo, order.row.undone))
        event = TurnUndone(turn_id="t1", redo=order.redo, by=order.by, files=(DONE,))
        self.under_way += 1
        await order.keep(replace(event, begun=True))
        log = self.disk.paper.streams[f"agent/session/{order.log.id}"]
        assert b"turn.undone" in log[-1], "it is kept before a file is changed"
        assert kept_row(self.disk, order.log.id).undone == order.row.undone
        await trio.sleep(1)
        self.under_way -= 1
        if self.trouble is not None:
            raise self.trouble
        await order.keep(event)
        return UndoReport(turn_id="t1", redo=order.redo, preview=order.wish.preview, files=(DONE,))


Test = Callable[[Stay, AgentDesk, str, Screen, PaperUndo], Awaitable[None]]


def play(test: Test, script: Scripts = TWO_TOKENS, *, undo: bool = True) -> None:
    async def playing() -> None:
        paper = PaperUndo()
        async with stay(script=script, undo=paper if undo else None) as here:
            paper.disk = here.disk
            fact = await here.create()
            ann = Screen("ann")
            await here.connect(ann, fact.id)
            await ann.ask("go")
            await until(lambda: ann.of("assistant.token"))
            await test(here, AgentDesk(here.registry, here.new_id, ServerFacts("0")), fact.id, ann, paper)

    run_in_virtual_time(playing)


async def refused(work: Awaitable[bytes]) -> ContractRefusal:
    with pytest.raises(ContractRefusal) as found:
        await work
    return found.value


def test_a_turn_is_undone_and_done_again_and_the_log_says_both() -> None:
    async def test(here: Stay, desk: AgentDesk, id: str, ann: Screen, undo: PaperUndo) -> None:  # noqa: A002
        await over(ann)
        assert b'"turn_id":"t1"' in await desk.undo(id, b'{"turn_id": "t1"}', "::1")
        assert kept_row(here.disk, id).undone == ("t1",)
        assert b'"redo":true' in await desk.redo(id, b"", "::1")
        assert kept_row(here.disk, id).undone == ()
        assert undo.asked == [(UndoWish(turn_id="t1"), False, ()), (UndoWish(), True, ("t1",))]
        await until(lambda: len(ann.of("turn.undone")) == 4)
        assert [(each["redo"], each["begun"], each["by"]) for each in ann.of("turn.undone")] == [
            (False, True, "::1"),
            (False, False, "::1"),
            (True, True, "::1"),
            (True, False, "::1"),
        ]
        assert ann.of("turn.undone")[0]["files"][0]["outcome"] == "done"

    play(test)


@pytest.mark.parametrize("seconds", [3, CLOSING_SECONDS + 2])
def test_an_undo_that_comes_with_the_last_word_waits_until_nothing_of_the_turn_is_left(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    async def slowly(images: LettingGo, *_: Any) -> None:
        await trio.sleep(seconds)

    async def test(here: Stay, desk: AgentDesk, id: str, ann: Screen, undo: PaperUndo) -> None:  # noqa: A002
        await until(lambda: ann.of("assistant.message_final"))
        if seconds < CLOSING_SECONDS:
            assert b'"turn_id":"t1"' in await desk.undo(id, b"{}", "::1")
        else:
            assert (await refused(desk.undo(id, b"{}", "::1"))).code == "BUSY"
        assert not undo.under_way
        await ann.ask("and then?")
        await over(ann, 2)

    monkeypatch.setattr(LettingGo, "look", slowly)
    play(test)


@pytest.mark.parametrize("script", [(Tokens(1), Pause(3600)), (Tokens(1), Asks((patch("p1"),)))])
def test_nothing_is_undone_while_a_turn_is_under_way(script: Scripts) -> None:
    async def test(here: Stay, desk: AgentDesk, id: str, ann: Screen, undo: PaperUndo) -> None:  # noqa: A002
        found = await refused(desk.undo(id, b"{}", "::1"))
        assert (found.status, found.code) == (409, "BUSY")
        assert not undo.asked
        await ann.cancel()
        await over(ann)
        await desk.undo(id, b"{}", "::1")

    play(test, script)


def test_a_suspended_turn_is_under_way_too() -> None:
    async def test(here: Stay, desk: AgentDesk, id: str, ann: Screen, undo: PaperUndo) -> None:  # noqa: A002
        await asked(ann)
        session = here.session(id)
        assert session is not None
        session.kill()
        await until(lambda: ann.state["suspended"])
        assert (await refused(desk.undo(id, b"{}", "::1"))).code == "BUSY"

    play(test, (Tokens(1), Asks((patch("p1"),))))


def test_what_is_said_while_a_turn_is_undone_waits_for_it_and_so_does_another_undo() -> None:
    async def test(here: Stay, desk: AgentDesk, id: str, ann: Screen, undo: PaperUndo) -> None:  # noqa: A002
        await over(ann)
        here.nursery.start_soon(partial(desk.undo, id, b"{}", "::1"))
        await until(lambda: undo.under_way)
        assert (await refused(desk.redo(id, b"{}", "::1"))).status == 409
        await ann.ask("next")
        await trio.sleep(0.5)
        assert undo.under_way
        assert len(here.made) == 1
        assert [each["message"] for each in ann.state["queued"]] == ["next"]
        await over(ann, 2)
        kinds = [each["type"] for each in ann.events if each["type"] in ("turn.undone", "user.message")]
        assert kinds == ["user.message", "turn.undone", "turn.undone", "user.message"]

    play(test)


def test_a_session_is_deleted_when_the_undo_is_over() -> None:
    async def test(here: Stay, desk: AgentDesk, id: str, ann: Screen, undo: PaperUndo) -> None:  # noqa: A002
        await over(ann)
        here.nursery.start_soon(quietly, desk.undo, id, b"{}", "::1")
        await until(lambda: undo.under_way)
        assert await here.ask(DeleteSession, id)
        assert not undo.under_way
        assert not here.disk.paper.pairs
        assert not here.disk.paper.streams

    play(test)


async def quietly(act: Callable[..., Awaitable[Any]], *args: Any) -> None:
    with contextlib.suppress(KernelError, ContractRefusal):
        await act(*args)


@pytest.mark.parametrize(
    ("trouble", "status", "says"),
    [
        (FileRefused("The disk does not answer."), 503, "The disk does not answer."),
        (StoreError("the store is away"), 503, "the store is away"),
        (ContractRefusal(404, "WORKSPACE_NOT_FOUND", "Workspace not found"), 404, "Workspace not found"),
    ],
)
def test_what_cannot_be_undone_is_told_and_the_session_goes_on(trouble: Exception, status: int, says: str) -> None:
    async def test(here: Stay, desk: AgentDesk, id: str, ann: Screen, undo: PaperUndo) -> None:  # noqa: A002
        await over(ann)
        undo.trouble = trouble
        found = await refused(desk.undo(id, b"{}", "::1"))
        assert (found.status, says in str(found)) == (status, True)
        undo.trouble = None
        await desk.undo(id, b"{}", "::1")
        await ann.ask("next")
        await over(ann, 2)

    play(test)


def test_while_nothing_can_be_kept_nothing_is_undone() -> None:
    async def test(here: Stay, desk: AgentDesk, id: str, ann: Screen, undo: PaperUndo) -> None:  # noqa: A002
        await over(ann)
        here.disk.full = True
        here.nursery.start_soon(quietly, ann.ask, "next")
        await until(lambda: ann.state["trouble"])
        found = await refused(desk.undo(id, b"{}", "::1"))
        assert (found.status, found.code) == (503, "INTERNAL")
        assert "Nothing was changed, because it cannot be kept" in str(found)
        assert not undo.asked

    play(test)


def test_a_server_that_cannot_undo_says_so() -> None:
    async def test(here: Stay, desk: AgentDesk, id: str, ann: Screen, undo: PaperUndo) -> None:  # noqa: A002
        await over(ann)
        found = await refused(desk.undo(id, b"{}", "::1"))
        assert (found.status, found.code, str(found)) == (503, "INTERNAL", "This server cannot undo.")

    play(test, undo=False)


@pytest.mark.slow
def test_what_a_turn_did_to_a_folder_is_undone_and_done_again(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("old\n")

    async def playing() -> None:
        trees = FolderTrees()
        undo = partial(undo_order, trees, lambda path, before, after: f"{path} {before!r} {after!r}")
        async with stay(script=(Pause(3600),), undo=undo) as here:
            here.workspaces["w"] = replace(here.workspaces["w"], path=str(tmp_path))
            fact = await here.create()
            ann = Screen("ann")
            await here.connect(ann, fact.id)
            await ann.ask("go")
            await until(lambda: here.made)
            order = here.made[0].order
            images = Images(here.registry, fact.id)
            change = FileReplacement("a.py", digest_of(b"old\n"), b"new\n")
            changed = FileChanged(
                change_id="c1",
                turn_id=order.turn_id,
                file_path="a.py",
                action="modify",
                status="done",
                before=await images.keep(b"old\n"),
                after=await images.keep(b"new\n"),
                before_hash=digest_of(b"old\n"),
                after_hash=digest_of(b"new\n"),
            )
            assert await here.made[0]._keep(replace(changed, status="begun"))
            await trees.hands(str(tmp_path)).change([change])
            assert await here.made[0]._keep(changed)
            await ann.cancel()
            assert (await over(ann))["metadata"]["files_modified"] == 1
            desk = AgentDesk(here.registry, here.new_id, ServerFacts("0"))
            preview = json.loads(await desk.undo(fact.id, b'{"preview": true}', "::1"))
            assert preview["files"][0]["outcome"] == "would"
            assert preview["files"][0]["diff"] == "a.py b'new\\n' b'old\\n'"
            assert (tmp_path / "a.py").read_text() == "new\n"
            for ask, text in ((desk.undo, "old\n"), (desk.redo, "new\n"), (desk.undo, "old\n")):
                report = json.loads(await ask(fact.id, b"", "::1"))
                assert report["files"][0]["outcome"] == "done"
                assert (tmp_path / "a.py").read_text() == text
            here.workspaces.clear()
            assert "not registered any more" in json.loads(await desk.redo(fact.id, b"", "::1"))["message"]

    trio.run(playing)
