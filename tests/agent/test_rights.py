"""What a turn may do is looked up anew; where it cannot be told, nothing is done. And so are its files."""

from collections.abc import Sequence

import pytest

from actors.agent.given import FileImage, FileRefused, Hands, Tree
from actors.agent.half_done import files_now
from actors.agent.messages import TurnOrder
from actors.agent.rights import current_rights, rights_at_first, same_rights
from actors.agent.tools import BadCall
from actors.kernel import Registry
from actors.kernel.testing import run_in_virtual_time
from codec.agent.approvals import Remembered
from codec.agent.workspaces import Policy
from tests.agent.session_kit import Asks, Pause, Screen, Stay, patch, stay, until


def kept(id: str) -> Remembered:  # noqa: A002
    return Remembered(id=id, kind="tool", tool_name="write_file")


async def under_way(here: Stay, screen: Screen) -> TurnOrder:
    """The order of a turn that lasts."""
    fact = await here.create()
    await here.connect(screen, fact.id)
    await screen.ask("go")
    await until(lambda: here.made)
    return here.made[0].order


def test_rights_are_those_of_this_moment_and_no_longer_those_of_the_turns_begin() -> None:
    async def test() -> None:
        async with stay(script=(Asks((patch("p1"),)), Pause(1000))) as here:
            ann = Screen("ann")
            order = await under_way(here, ann)
            assert await same_rights(here.registry, order) == rights_at_first(order)
            here.policy = Policy(command_approval="always")
            here.remembered.append(kept("of the workspace"))
            await until(lambda: ann.of("session.state") and ann.state["pending_approvals"])
            await ann.answer("p1", remember="session")
            await until(lambda: ann.of("approval.resolved"))
            rights = await current_rights(here.registry, order)
            assert (rights.policy, rights.mode) == (here.policy, "ask")
            here_first, there = rights.remembered
            assert (here_first.kind, here_first.path) == ("path", "a.py")
            assert there == kept("of the workspace")
            assert rights_at_first(order).policy == Policy()

    run_in_virtual_time(test)


def test_where_it_cannot_be_told_what_is_allowed_nothing_is() -> None:
    async def test() -> None:
        async with stay(script=(Pause(1000),)) as here:
            order = await under_way(here, Screen("ann"))
            with pytest.raises(BadCall, match=r"^what is allowed cannot be looked up now \("):
                await current_rights(Registry(), order)
            here.workspaces.clear()
            with pytest.raises(BadCall, match=r"^the workspace of this session is not registered any more$"):
                await current_rights(here.registry, order)

    run_in_virtual_time(test)


class PaperTrees:
    """One file in each folder."""

    has_rested = False

    def tree(self, path: str) -> Tree:
        raise NotImplementedError

    def hands(self, path: str) -> Hands:
        assert path == "/work"
        return self  # type: ignore[return-value]

    async def check(self, path: str) -> str:
        raise NotImplementedError

    async def rested(self) -> None:
        self.has_rested = True

    async def images(self, paths: Sequence[str]) -> Sequence[FileImage | FileRefused | None]:
        assert self.has_rested
        return [FileImage(path, b"x", 0o644) if path == "a.py" else None for path in paths]


def test_files_are_looked_at_in_the_sessions_own_workspace_while_it_is_there() -> None:
    async def test() -> None:
        async with stay() as here:
            found = await files_now(PaperTrees(), here.registry, "w", ["a.py", "b.py"])
            assert list(found) == [FileImage("a.py", b"x", 0o644), None]
            with pytest.raises(FileRefused, match="The workspace is not registered any more"):
                await files_now(PaperTrees(), here.registry, "another", ["a.py"])

    run_in_virtual_time(test)
