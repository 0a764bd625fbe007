"""Approvals that are remembered, in a session and in its workspace: stored before it is said, listed, revoked."""

import itertools
import json
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from actors.agent import remembering
from actors.agent.approving import MOST_REMEMBERED
from actors.agent.client import ServerFacts
from actors.agent.desk import AgentDesk
from actors.agent.messages import ForgetApproval, RememberApproval, RememberedAsked
from actors.agent.session import REST_SECONDS
from actors.kernel.testing import run_in_virtual_time
from actors.store import STORE, StoreClient
from codec.agent.approvals import ExactCommand, Remembered
from codec.agent.audit import ApprovalForgotten, ApprovalRemembered, PolicyAudited
from codec.agent.refusing import ContractRefusal
from tests.agent.paper_store import PaperDisk
from tests.agent.session_kit import Asks, Screen, Scripts, Stay, Tokens, command, patch, stay, tool, until
from tests.agent.test_approvals import asked, over, play
from tests.agent.test_workspaces import Desk, PaperTrees, desk

REQUESTS = (Asks((command("c1"), patch("p1"), tool("t1"))), Tokens(1))


# -- in a session


def test_what_is_remembered_for_the_session_is_in_its_row_and_in_the_next_turn() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        here.remembered.append(Remembered(id="w1", kind="tool", tool_name="write_file", scope="workspace"))
        await ann.ask("go")
        await asked(ann, 3)
        await ann.answer("c1", remember="session")
        await ann.answer("p1", remember="session")
        await ann.answer("t1", approved=False, remember="session")
        await over(ann)
        told = {each["request_id"]: each["remember"] for each in bob.of("approval.resolved")}
        assert told == {"c1": "session", "p1": "session", "t1": "once"}
        await ann.ask("again")
        await asked(ann, 3)
        order = here.made[1].order
        assert [(each.kind, each.argv, each.path, each.scope) for each in order.remembered[:2]] == [
            ("command", ("npm", "test"), None, "session"),
            ("path", (), "a.py", "session"),
        ]
        assert [each.id for each in order.remembered[2:]] == ["w1"]
        assert {each.by for each in order.remembered[:2]} == {"ann"}
        assert order.remembered[0].at > 1_800_000_000
        await ann.answer("c1", remember="session")
        await until(lambda: len(ann.of("approval.resolved")) == 4)
        row = await here.log(id).row()
        assert row is not None
        assert len(row.remembered) == 2, "what allows the same is remembered once"

    play(test, REQUESTS)


def test_exactly_one_command_is_remembered_beside_what_begins_like_it_and_after_a_kill() -> None:
    disk = PaperDisk()
    exactly = ExactCommand(line="npm test", folder="web")
    both = command("c1", exactly=exactly), command("c2", exactly=exactly)
    script: Scripts = [Asks((*both, command("c3"), tool("t1")))]

    async def first(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await asked(ann, 4)
        await ann.answer("t1", remember="session", exactly=True)
        await until(lambda: ann.errors == ["INVALID_MESSAGE"])
        await ann.answer("t1", approved=False)
        await ann.answer("c1", remember="session", exactly=True)
        await ann.answer("c2", remember="workspace", exactly=True)
        await ann.answer("c3", remember="session", exactly=True)
        await over(ann)
        told = {each["request_id"]: (each["remember"], each.get("exactly")) for each in bob.of("approval.resolved")}
        assert told == {
            "t1": ("once", False),
            "c1": ("session", True),
            "c2": ("workspace", True),
            "c3": ("once", False),
        }
        assert ann.errors == ["INVALID_MESSAGE", "INTERNAL"]
        assert [(each.exactly, each.argv, each.scope) for each in here.remembered] == [(exactly, (), "workspace")]
        disk.paper = here.disk.paper.copy()
        found.append(id)

    found: list[str] = []
    play(first, script)

    async def later() -> None:
        async with stay(disk, script, itertools.count(1000)) as here:
            ann = Screen("ann")
            await here.connect(ann, found[0])
            await ann.ask("again")
            await asked(ann, 4)
            (kept,) = here.made[0].order.remembered
            assert (kept.kind, kept.exactly, kept.argv, kept.by) == ("command", exactly, (), "ann")
            await ann.answer("c1", remember="session")
            await ann.answer("c2", remember="session", exactly=True)
            await until(lambda: len(ann.state["pending_approvals"]) == 2)
            row = await here.log(found[0]).row()
            assert row is not None
            assert [bool(each.exactly) for each in row.remembered] == [True, False], "a prefix allows something else"

    run_in_virtual_time(later)


def test_what_cannot_be_remembered_is_told_and_the_answer_stands() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await asked(ann, 2)
        await ann.answer("c1", remember="session")
        await ann.answer("p1", remember="workspace", scope="hunk", hunks=[0])
        await over(ann)
        assert [each["remember"] for each in ann.of("approval.resolved")] == ["once", "once"]
        assert all(each["approved"] for each in ann.of("approval.resolved"))
        told = [each["error"]["message"] for each in ann.of("server.error")]
        assert all(each.startswith("The answer was taken for this once, and is not remembered: ") for each in told)
        assert len(told) == 2
        assert bob.errors == []
        assert here.remembered == []

    play(test, [Asks((command("c1", may_remember=()), patch("p1")))])


def test_a_session_remembers_only_so_much() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await asked(ann, MOST_REMEMBERED + 1)
        await ann.answer("p0", remember="session")
        await over(ann)
        row = await here.log(id).row()
        assert row is not None
        assert len(row.remembered) == MOST_REMEMBERED
        assert ann.errors == ["INTERNAL"]
        assert [each["remember"] for each in ann.of("approval.resolved")].count("session") == MOST_REMEMBERED

    many = tuple(patch(f"p{number}", f"{number}.py") for number in range(MOST_REMEMBERED + 1))
    play(test, [Asks(many)])


# -- in the workspace


def test_what_is_remembered_for_the_workspace_is_there_before_it_is_said() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        here.remembering_seconds = 2.0
        await ann.ask("go")
        await asked(ann, 3)
        here.nursery.start_soon(partial(ann.answer, "c1", remember="workspace"))
        await trio.sleep(1.9)
        assert not bob.of("approval.resolved")
        await bob.answer("c1", approved=False)
        await until(lambda: bob.errors == ["INVALID_MESSAGE"])
        assert "was approved already by ann" in bob.of("server.error")[0]["error"]["message"]
        await until(lambda: bob.of("approval.resolved"))
        (approval,) = here.remembered
        assert (approval.argv, approval.by, approval.scope) == (("npm", "test"), "ann", "workspace")
        assert [(each["approved"], each["remember"]) for each in bob.of("approval.resolved")] == [(True, "workspace")]
        row = await here.log(id).row()
        assert row is not None
        assert row.remembered == ()

    play(test, REQUESTS)


def test_a_workspace_that_cannot_remember_is_told_of_and_the_answer_stands_for_once() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        here.forgetful = True
        await ann.ask("go")
        await asked(ann, 3)
        await ann.answer("c1", remember="workspace")
        await until(lambda: ann.of("approval.resolved"))
        assert [(each["approved"], each["remember"]) for each in ann.of("approval.resolved")] == [(True, "once")]
        (error,) = ann.of("server.error")
        assert "The approval was not stored: the disk is full." in error["error"]["message"]
        assert bob.errors == []

    play(test, REQUESTS)


def test_a_cancel_while_an_approval_is_being_stored_comes_first() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        here.remembering_seconds = 2.0
        await ann.ask("go")
        await asked(ann, 3)
        here.nursery.start_soon(partial(ann.answer, "c1", remember="workspace"))
        await trio.sleep(1)
        await bob.cancel()
        assert (await over(bob))["metadata"]["cancelled"]
        await until(lambda: ann.errors == ["INVALID_MESSAGE"])
        assert [each["ended"] for each in bob.of("approval.resolved")] == ["cancelled"] * 3
        assert not here.acted

    play(test, REQUESTS)


def test_an_answer_that_is_being_stored_comes_too_late_when_the_turn_waits_no_longer() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        here.remembering_seconds = 2.0
        await ann.ask("go")
        await until(lambda: ann.state["requests"])
        here.nursery.start_soon(partial(ann.answer, "c1", remember="workspace"))
        await trio.sleep(1)
        assert await here.made[0]._keep(over=["c1"])
        await until(lambda: ann.errors == ["INVALID_MESSAGE"])
        assert [each["ended"] for each in bob.of("approval.resolved")] == ["timed_out"]

    play(test, [Asks((command("c1", asks=False),))])


def test_the_result_of_a_command_that_is_being_remembered_belongs_to_it() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        here.remembering_seconds = 2.0
        await ann.ask("go")
        await asked(ann, 3)
        here.nursery.start_soon(partial(ann.answer, "c1", remember="workspace"))
        await trio.sleep(1)
        await bob.say({"type": "client.command_result", "command_id": "c1", "exit_code": 0})
        await until(lambda: "c1" in here.made[0].settled)
        settled = here.made[0].settled["c1"]
        assert settled.result is not None
        assert settled.resolution is not None
        assert (settled.resolution.remember, settled.resolution.by) == ("workspace", "ann")
        assert bob.errors == []

    play(test, REQUESTS)


# -- over HTTP


async def read(work: Awaitable[bytes]) -> Any:
    return json.loads(await work)


def at_the_desk(test: Callable[[Stay, AgentDesk, str, Screen], Awaitable[None]], script: Scripts = REQUESTS) -> None:
    async def with_desk(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await test(here, AgentDesk(here.registry, here.new_id, ServerFacts("0")), id, ann)

    play(with_desk, script)


def test_what_a_session_remembers_is_listed_and_revoked() -> None:
    async def test(here: Stay, desk: AgentDesk, id: str, ann: Screen) -> None:  # noqa: A002
        assert await read(desk.session_approvals(id)) == {"approvals": []}
        await ann.ask("go")
        await asked(ann, 3)
        await ann.answer("p1", remember="session")
        (approval,) = (await read(desk.session_approvals(id)))["approvals"]
        assert (approval["kind"], approval["path"], approval["by"]) == ("path", "a.py", "ann")
        await ann.cancel()
        await over(ann)
        await here.drop(ann)
        await trio.sleep(REST_SECONDS)
        assert await read(desk.forget_session_approval(id, approval["id"], "::1")) == {"success": True}
        assert await read(desk.forget_session_approval(id, approval["id"], "::1")) == {"success": False}
        assert await read(desk.session_approvals(id)) == {"approvals": []}
        for ask in (
            desk.session_approvals("nobody"),
            desk.forget_session_approval("nobody", "a", "::1"),
            desk.undo("nobody", b"{}", "::1"),
        ):
            with pytest.raises(ContractRefusal) as refused:
                await ask
            assert refused.value.status == 404

    at_the_desk(test)


# -- the workspaces' own store

PYTEST = Remembered(id="a1", kind="command", argv=("pytest", "-q"), by="ann", at=1.0)
PATH = Remembered(id="a2", kind="path", path="a.py", at=2.0)


async def remember(asked: Desk, id: str, approval: Remembered) -> None:  # noqa: A002
    await asked.ask(partial(RememberApproval, id, approval))


async def listed(asked: Desk, id: str) -> Any:  # noqa: A002
    found = await asked.ask(partial(RememberedAsked, id))
    return None if found is None else list(found.approvals)


async def forget(asked: Desk, id: str, approval_id: str) -> Any:  # noqa: A002
    return await asked.ask(partial(ForgetApproval, id, approval_id, "::1"))


async def test_a_workspace_remembers_over_a_restart_lists_and_forgets(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    trees = PaperTrees(a="/a", b="/b")
    async with desk(tmp_path, trees) as asked_:
        one, other = (await asked_.register("/a")).id, (await asked_.register("/b")).id
        await remember(asked_, one, PATH)
        await remember(asked_, one, PYTEST)
        await remember(asked_, one, msgspec.structs.replace(PYTEST, id="a3", at=3.0))
        assert [each.id for each in await listed(asked_, one)] == ["a1", "a2"]
        assert {each.scope for each in await listed(asked_, one)} == {"workspace"}
        assert await listed(asked_, other) == []
    async with desk(tmp_path, trees) as asked_:
        assert [each.id for each in await listed(asked_, one)] == ["a1", "a2"]
        assert await forget(asked_, other, "a1") is False
        assert await forget(asked_, one, "a1") is True
        assert await forget(asked_, one, "a1") is False
        assert [each.id for each in await listed(asked_, one)] == ["a2"]
        entries = await asked_.store.read(f"agent/audit/{one}")
        audited = [
            msgspec.json.decode(entry, type=PolicyAudited | ApprovalRemembered | ApprovalForgotten)
            for _, entry in entries
        ]
        assert [(type(each).__name__, each.by) for each in audited] == [
            ("ApprovalRemembered", ""),
            ("ApprovalRemembered", "ann"),
            ("ApprovalForgotten", "::1"),
        ]
        assert await listed(asked_, "nobody") is None
        assert await forget(asked_, "nobody", "a1") is None
        with pytest.raises(ContractRefusal):
            await remember(asked_, "nobody", PATH)


async def test_a_record_that_cannot_be_read_allows_nothing(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with desk(tmp_path, PaperTrees(a="/a")) as asked_:
        id = (await asked_.register("/a")).id  # noqa: A001
        await remember(asked_, id, PATH)
        await asked_.store.put("agent/remembered", f"{id}/a0", b"{")
        assert [each.id for each in await listed(asked_, id)] == ["a2"]


async def test_a_workspace_remembers_only_so_much(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembering, "MOST_REMEMBERED", 1)
    async with desk(tmp_path, PaperTrees(a="/a")) as asked_:
        id = (await asked_.register("/a")).id  # noqa: A001
        await remember(asked_, id, PATH)
        await remember(asked_, id, PATH)
        with pytest.raises(ContractRefusal, match="Revoke one"):
            await remember(asked_, id, PYTEST)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from("rf"), st.integers(0, 3), st.booleans()), max_size=12))
def test_a_workspace_remembers_what_was_remembered_and_not_revoked(steps: list[tuple[str, int, bool]]) -> None:
    """Over any kills: what is acknowledged is there."""

    async def playing() -> None:
        disk = PaperDisk()
        model: dict[int, str] = {}
        left = list(enumerate(steps))
        while left:
            async with stay(disk) as here:
                store = remembering.Remembering(StoreClient(here.registry.get(STORE)), float)
                while left:
                    number, (what, which, killed) = left.pop(0)
                    if what == "r":
                        await store.remember("w", Remembered(id=f"a{number}", kind="path", path=str(which), at=number))
                        model.setdefault(which, f"a{number}")
                    else:
                        id = model.pop(which, "none")  # noqa: A001
                        assert await store.forget("w", id, "") is (id != "none")
                    found = {int(each.path or ""): each.id for each in (await store.listed("w")).approvals}
                    assert found == model
                    if killed:
                        break
            disk = PaperDisk(disk.paper.copy())

    trio.run(playing, clock=MockClock(autojump_threshold=0))
