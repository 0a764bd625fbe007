import pytest

from actors.agent.given import FileRefused
from actors.agent.readable import ReadableTree
from actors.kernel.testing import run_in_virtual_time
from codec.agent.models import SaidText
from codec.agent.workspaces import Policy
from tests.agent.turn_kit import STOP, MemoryTree, Script, call, whole

FILES = {"src/a.py": "login\n", "secrets/b.txt": "login\n", "docs/c.md": "login\n"}


def test_what_a_policy_blocks_is_refused_and_is_in_no_list() -> None:
    async def play() -> None:
        tree = ReadableTree(
            MemoryTree(FILES), Policy(blocked_globs=("secrets/**",), allowed_read_globs=("**/*.py", "*.txt"))
        )
        assert (await tree.read("src/a.py")).text == "login\n"
        for path in ("secrets/b.txt", "docs/c.md"):
            with pytest.raises(FileRefused, match="The policy of this workspace"):
                await tree.read(path)
        with pytest.raises(FileRefused):
            await tree.entries("secrets")
        assert [each.path for each in await tree.entries()] == ["docs/", "src/"]
        assert [each.path for each in await tree.entries(deep=True)] == ["src/a.py"]
        assert [hit.path for hit in await tree.search(["login"])] == ["src/a.py"]

    run_in_virtual_time(play)


def test_a_turn_reads_within_the_policy() -> None:
    async def play() -> None:
        script = Script([call("read_file", file_path="secrets/b.txt"), STOP], [SaidText("No."), STOP])
        policy = Policy(blocked_globs=("secrets/**",))
        await whole("What is login?", script, FILES, policy=policy)
        assert "secrets/b.txt:1" not in script.requests[0].messages[-1].content
        assert "does not let the agent read secrets/b.txt" in script.requests[1].messages[-1].content

    run_in_virtual_time(play)
