"""Sessions with turns that act: the real session, the real turn, images in the store; files and commands in memory."""

import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import trio

from actors.agent.acting import ActingMeans
from actors.agent.commanding import commands_ended
from actors.agent.images import Images
from actors.agent.messages import TurnOrder
from actors.agent.turn import turn_spec
from actors.kernel.testing import run_in_virtual_time
from codec.agent.files import digest_of
from codec.agent.models import SaidText
from codec.agent.workspaces import Policy
from tests.agent.hands_kit import MemoryHands, PaperCommands, exited
from tests.agent.paper_store import Paper, PaperDisk
from tests.agent.session_kit import Screen, Stay, stay, until
from tests.agent.turn_kit import REMOTE, STOP, MemoryTree, MemoryTrees, Script, call

EDIT = call("propose_diff", edits=[{"file_path": "a.py", "old": "x = 1", "new": "x = 2"}])
MAKE = call("execute_command", argv=["make", "all"])
SERVER = Policy(execution_mode="server_runner", patch_application="server")


class Workplace:
    """What outlives a server: the disk, and the ids that were given."""

    def __init__(self, *calls: Any, policy: Policy = SERVER) -> None:
        self.tree = MemoryTree({"a.py": "x = 1\n"})
        self.hands = MemoryHands(self.tree)
        self.commands = PaperCommands()
        self.policy = policy
        self.ids = itertools.count(1)
        self.script = Script(*([each, STOP] for each in calls), [SaidText("Done."), STOP])

    def _turn(self, order: TurnOrder) -> Any:
        acting = ActingMeans(lambda registry: self.commands)
        return turn_spec(order, self.script, MemoryTrees(self.tree, self.hands), acting=acting)

    def stay(self, paper: Paper | None = None) -> Any:
        disk = None if paper is None else PaperDisk(paper)
        return stay(disk, ids=self.ids, make_turn=self._turn, commands_ended=commands_ended)

    async def begin(self, here: Stay, *can: str) -> tuple[str, Screen]:
        here.model, here.policy = REMOTE, self.policy
        fact = await here.create()
        ann = Screen("ann", can=can)
        await here.connect(ann, fact.id)
        await ann.ask("Do it")
        return fact.id, ann


async def request(ann: Screen, kind: str = "patch.proposed") -> str:
    await until(lambda: ann.of(kind))
    found: str = ann.of(kind)[-1]["request_id"]
    return found


async def final(ann: Screen) -> dict[str, Any]:
    await until(lambda: ann.of("assistant.message_final"))
    (found,) = ann.of("assistant.message_final")
    return dict(found)


def kinds(ann: Screen) -> list[str]:
    leave = ("assistant.thinking", "context.usage", "assistant.token", "user.message")
    return [f"{each['type']} {each.get('status', '')}".strip() for each in ann.events if each["type"] not in leave]


def play(test: Callable[[], Awaitable[None]]) -> None:
    run_in_virtual_time(test)


def test_what_is_approved_is_done_and_stands_in_the_log_in_order() -> None:
    async def test() -> None:
        place = Workplace(EDIT)
        async with place.stay() as here:
            id, ann = await place.begin(here)  # noqa: A001
            patch = await request(ann)
            assert ann.state["pending_patches"] == [patch]
            assert place.tree.files["a.py"] == "x = 1\n"
            await ann.answer(patch)
            end = await final(ann)
            assert (end["message"], end["metadata"]["files_modified"]) == ("Done.", 1)
            assert kinds(ann) == [
                "tool.execute started",
                "patch.proposed",
                "approval.resolved",
                "file.changed begun",
                "file.changed done",
                "patch.applied",
                "tool.execute completed",
                "assistant.message_final",
            ]
            await until(lambda: ann.state["applied_patches"] == [patch])
            assert ann.state["requests"] == []
            (begun, _) = ann.of("file.changed")
            assert await Images(here.registry, id).get(begun["before"]) == b"x = 1\n"
            assert await Images(here.registry, id).get(begun["after"]) == b"x = 2\n"
            assert place.tree.files["a.py"] == "x = 2\n"

    play(test)


def test_what_was_asked_before_a_kill_is_done_when_it_is_answered_after_it() -> None:
    async def test() -> None:
        place = Workplace(EDIT, MAKE)
        async with place.stay() as here:
            id, ann = await place.begin(here)  # noqa: A001
            patch = await request(ann)
            paper = here.disk.paper.copy()
        async with place.stay(paper) as here:
            here.model, here.policy = REMOTE, place.policy
            ben = Screen("ben")
            await here.connect(ben, id, 0)
            await until(lambda: ben.of("session.state"))
            assert ben.state["suspended"]
            await ben.answer(patch)
            command = await request(ben, "command.request_approval")
            assert place.tree.files["a.py"] == "x = 2\n"
            paper = here.disk.paper.copy()
        async with place.stay(paper) as here:
            here.model, here.policy = REMOTE, place.policy
            cleo = Screen("cleo")
            await here.connect(cleo, id, 0)
            await cleo.answer(command)
            end = await final(cleo)
        assert end["message"] == "Done."
        assert end["metadata"]["tools_used"] == ["propose_diff", "execute_command"]
        assert end["metadata"]["files_modified"] == 1
        assert [order.command for order in place.commands.orders] == [("make", "all")]
        assert len(place.hands.strokes) == 1
        calls = [(each["call_id"], each["status"]) for each in cleo.of("tool.execute")]
        assert len(set(calls)) == len(calls) == 4

    play(test)


def test_a_cancel_while_somebody_is_asked_writes_nothing_then_or_later() -> None:
    async def test() -> None:
        place = Workplace(EDIT)
        async with place.stay() as here:
            _, ann = await place.begin(here)
            patch = await request(ann)
            await ann.cancel()
            end = await final(ann)
            assert end["metadata"]["cancelled"]
            await ann.answer(patch)
            await until(lambda: ann.errors == ["INVALID_MESSAGE"])
            await trio.sleep(3600)
            assert place.hands.strokes == []
            assert kinds(ann)[-2:] == ["approval.resolved", "assistant.message_final"]

    play(test)


def test_a_cancel_while_a_command_runs_leaves_nothing_of_it() -> None:
    async def test() -> None:
        place = Workplace(EDIT, MAKE, policy=Policy(execution_mode="server_runner", command_approval="never"))

        async def forever(said: Any) -> Any:
            said("stdout", "begun\n")
            await trio.sleep_forever()

        place.commands.outcomes["make all"] = forever
        async with place.stay() as here:
            _, ann = await place.begin(here)
            await ann.answer(await request(ann))
            await until(lambda: ann.of("command.output"))
            assert place.commands.running == 1
            await ann.cancel()
            end = await final(ann)
            assert place.commands.running == 0
            assert end["metadata"]["cancelled"]
            assert end["metadata"]["files_modified"] == 1
            assert ann.of("command.finished")[-1]["ended"] == "cancelled"

    play(test)


def test_a_client_applies_a_patch_that_another_one_has_approved() -> None:
    async def test() -> None:
        place = Workplace(EDIT, policy=Policy())
        async with place.stay() as here:
            _, ann = await place.begin(here, "diff_preview")
            patch = await request(ann)
            await ann.answer(patch)
            await trio.sleep(3)
            place.tree.files["a.py"] = "x = 2\n"
            digest = digest_of(b"x = 2\n")
            result = {"patch_id": patch, "file_path": "a.py", "success": True, "applied_hash": digest}
            await ann.say({"type": "client.patch_apply_result", **result})
            end = await final(ann)
            assert place.hands.strokes == []
            assert end["metadata"]["files_modified"] == 1
            (applied,) = ann.of("patch.applied")
            assert (applied["by"], applied["applied_hash"]) == ("client", digest)

    play(test)


def test_a_refusal_and_its_reason_reach_the_model_and_it_goes_on() -> None:
    async def test() -> None:
        place = Workplace(EDIT, MAKE)
        place.commands.outcomes["make all"] = exited(2, "", "no rule\n")
        async with place.stay() as here:
            _, ann = await place.begin(here)
            await ann.answer(await request(ann), approved=False, reason="Leave it.")
            await ann.answer(await request(ann, "command.request_approval"))
            assert (await final(ann))["message"] == "Done."
            told = [m.content for m in place.script.requests[-1].messages if m.role == "tool"]
            assert "the user refused it and says: Leave it." in told[0]
            assert "It ended with exit code 2" in told[1]
            assert "no rule" in told[1]

    play(test)
