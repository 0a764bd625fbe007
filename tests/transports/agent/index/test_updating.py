"""An index says what is on the disk, whatever has happened to the files, the workers and the server in between."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace

from actors.agent.index.given import IndexTrouble
from codec.agent.index.telling import IndexWish
from tests.transports.agent.index.house import PATIENCE, IndexHouse, fresh, open_indexes
from transports.agent.index import orders
from transports.agent.index.ordering import ordered
from transports.process.crew import MemberLost

pytestmark = pytest.mark.slow

CONNECTION = "import socket\n\n\nclass Connection:\n    def close(self):\n        return self.hangUp()\n"
ROOT = Path(__file__).parents[4]


async def test_files_are_found_by_their_words_names_and_paths_and_facts_count_them(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        house.write("net/connection.py", CONNECTION)
        house.write("README.md", "# Wombat\n\nIt burrows.\n")
        facts = await house.update()
        assert (facts.total_files, facts.indexed_files, facts.complete, facts.changed) == (2, 2, True, 2)
        assert facts.total_symbols >= 2
        assert facts.completed_at is not None
        assert await house.found("burrows") == ["README.md"]
        assert await house.found("hangUp") == ["net/connection.py"]
        assert (await house.found("Connection.close"))[0] == "net/connection.py"
        assert await house.index.facts() == replace(facts, changed=0)


async def test_before_the_first_update_nothing_is_found_and_the_facts_are_empty(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        assert (await house.index.facts()).total_files == 0
        found = await house.find("anything")
        assert (found.hits, found.complete) == ((), False)


async def test_what_has_not_changed_is_not_read_again(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        for number in range(30):
            os.utime(house.write(f"a{number}.py", CONNECTION), (1_600_000_000.5, 1_600_000_000.5))
        await trio.sleep(0.05)
        await house.update()
        await house.update()
        again = await house.update()
        assert (again.changed, again.indexed_files) == (0, 30)


async def test_a_change_a_new_file_and_one_that_is_gone_are_seen_by_their_paths_alone(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        house.write("a.py", "aardvark = 1\n")
        house.write("b/c.py", "badger = 1\n")
        await house.update()
        house.write("a.py", "antelope = 1\n")
        (house.root / "b/c.py").unlink()
        house.write("b/d.py", "dormouse = 1\n")
        facts = await house.update("a.py", "b/c.py", "b/d.py")
        assert facts.changed == 3
        assert [await house.found(word) for word in ("aardvark", "badger", "antelope", "dormouse")] == [
            [], [], ["a.py"], ["b/d.py"],
        ]  # fmt: skip
        await house.update()
        assert house.tables() == await fresh(house)


async def test_a_folder_counts_with_all_that_is_in_it_and_so_does_one_that_is_renamed(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        for number in range(40):
            house.write(f"old/deep/f{number}.py", f"def f{number}(): return marmot\n")
        await house.update()
        (house.root / "old").rename(house.root / "new")
        await house.update("old", "new")
        assert all(path.startswith("new/") for path in await house.found("marmot"))
        await house.update()
        assert house.tables() == await fresh(house)


async def test_a_file_with_several_names_is_changed_under_all_of_them(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        for folder in ("a", "b/c", "d"):
            house.root.joinpath(folder).mkdir(parents=True)
        first = house.write("a/one.py", "def early(): pass\n")
        for other in ("b/c/two.py", "b/c/three.py", "d/four.py"):
            house.root.joinpath(other).hardlink_to(first)
        await house.update()
        with first.open("a") as file:
            file.write("def late(): pass\n")
        await house.update("a/one.py", "b")  # one is told, two are in a folder that is, and nobody tells of the fourth
        assert set(await house.found("late")) == {"a/one.py", "b/c/two.py", "b/c/three.py", "d/four.py"}
        assert house.tables() == await fresh(house)


async def test_an_update_resolves_the_imports_that_one_before_it_was_ended_before_it_could_resolve(
    tmp_path: Path,
) -> None:
    async with open_indexes(tmp_path) as house:
        for name in ("one", "two"):
            house.write(f"{name}.py", "x = 1\n")
        house.write("three.py", "import one\n")
        await house.update()
        house.write("three.py", "import two\n")
        await trio.sleep(0.05)  # a tick of the disk's clock: else the file would be read once more
        place = orders.IndexPlace(str(house.file), str(house.root))
        await ordered(house.crew, orders.ReadPaths(place, ("three.py",)), orders.Written)
        await house.update("three.py")  # it is in the index already, and nothing is left to read
        assert house.tables() == await fresh(house)


async def test_what_git_ignores_is_left_out_and_a_changed_rule_changes_the_index(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        house.write("kept.py", "quokka = 1\n")
        house.write("build/made.py", "quokka = 2\n")
        house.write("sub/.hidden/x.py", "quokka = 3\n")
        house.write(".gitignore", "build/\n")
        await house.update()
        assert await house.found("quokka") == ["kept.py"]
        await house.update("build/made.py", "build", "sub/.hidden/x.py")
        assert await house.found("quokka") == ["kept.py"]
        house.write(".gitignore", "kept.py\n")
        await house.update(".gitignore")
        assert await house.found("quokka") == ["build/made.py"]


async def test_another_branch_with_thousands_of_changes_is_as_a_fresh_index(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        for number in range(1200):
            house.write(f"p{number % 40}/m{number}.py", f"import p{number % 7}\n\ndef one_{number}(): pass\n")
        await house.update()
        for number in range(1200):
            place = f"p{number % 40}/m{number}.py"
            if number % 3 == 0:
                (house.root / place).unlink()
            elif number % 3 == 1:
                house.write(place, f"def other_{number}(): pass\n")
            else:
                house.write(f"q{number % 40}/m{number}.py", f"def third_{number}(): pass\n")
        await house.update()
        assert house.tables() == await fresh(house)
        assert house.said
        counted = [facts.generation for facts in house.said]
        assert counted == sorted(counted)


async def test_anew_reads_everything_again(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        for number in range(10):
            house.write(f"a{number}.py", CONNECTION)
        await house.update()
        facts = await house.update(anew=True)
        assert facts.changed == 10
        assert house.tables() == await fresh(house)


async def test_a_rebuild_that_is_broken_off_is_gone_on_with_by_the_next_update(tmp_path: Path) -> None:
    held = tmp_path / "held"
    async with open_indexes(tmp_path, odd=f"slow={held}") as house:
        for number in range(40):
            house.write(f"a{number}.py", f"def one_{number}(): pass\n")
        await house.update()
        with closing(sqlite3.connect(house.file)) as connection:  # what only a rebuild repairs
            connection.execute("DELETE FROM symbol_text")
            connection.execute("DELETE FROM symbol")
            connection.commit()
        held.touch()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(house.update, anew=True))
            await until_rebuilding(house)
            assert "a7.py" in await house.found("one_7"), "what it was is found until it is read"
            for pid in house.statistics().pids:
                os.kill(pid, signal.SIGKILL)
            nursery.cancel_scope.cancel()
        held.unlink()
        assert not (await house.index.facts()).complete
        assert (await house.update()).complete
        assert house.tables() == await fresh(house)


async def until_rebuilding(house: IndexHouse) -> None:
    with trio.fail_after(PATIENCE):
        while (await house.index.facts()).complete:
            await trio.lowlevel.checkpoint()


async def test_a_file_that_ends_its_reader_is_left_out_and_told_until_it_changes(tmp_path: Path) -> None:
    async with open_indexes(tmp_path, odd="ends=basilisk") as house:
        for number in range(30):
            house.write(f"a{number}.py", f"wallaby = {number}\n")
        house.write("bad.py", "basilisk = 1\n")
        facts = await house.update()
        assert facts.troubles == ("bad.py was left out: whatever reads it is ended by it, or takes too long.",)
        assert (facts.complete, facts.indexed_files) == (True, 31)
        assert (await house.find("wallaby")).hits
        started = house.statistics().started
        assert (await house.update()).troubles == facts.troubles
        assert house.statistics().started <= started + 1
        house.write("bad.py", "harmless = 1\n")
        assert (await house.update("bad.py")).troubles == ()
        assert await house.found("harmless") == ["bad.py"]


async def test_a_file_that_is_computed_at_without_end_is_left_out(tmp_path: Path) -> None:
    async with open_indexes(tmp_path, odd="hangs=sisyphus", cpu_seconds=0.3) as house:
        house.write("a.py", "wallaby = 1\n")
        house.write("bad.py", "sisyphus = 1\n")
        facts = await house.update()
        assert "bad.py was left out" in facts.troubles[0]
        assert await house.found("wallaby") == ["a.py"]


async def test_an_update_that_is_cancelled_goes_on_where_it_was(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        for number in range(1500):
            house.write(f"p{number % 30}/m{number}.py", f"def one_{number}(): pass\n" * 20)
        with trio.CancelScope() as scope:
            await house.index.update(IndexWish(), lambda facts: scope.cancel())
        assert scope.cancelled_caught
        before = await house.index.facts()
        assert 0 < before.indexed_files < 1500
        assert not before.complete
        facts = await house.update()
        assert facts.changed <= 1500 - before.indexed_files
        assert house.tables() == await fresh(house)


async def test_whoever_is_killed_and_whatever_is_edited_the_index_converges_to_a_fresh_one(tmp_path: Path) -> None:
    """Drawn: edits, whole and partial updates, cancelled ones, and kills of workers while they are at it."""
    drawn = random.Random(20_261_123)
    async with open_indexes(tmp_path) as house:
        for _ in range(200):
            _edit(drawn, house)
        for _ in range(12):
            touched = {_edit(drawn, house) for _ in range(drawn.randrange(1, 60))}
            wish = IndexWish(paths=tuple(sorted(touched)) if drawn.random() < 0.5 else None)
            what = drawn.choice(("whole", "killed", "cancelled", "edited"))
            with trio.move_on_after(drawn.uniform(0.0, 0.15) if what == "cancelled" else PATIENCE):
                async with trio.open_nursery() as nursery:
                    if what == "killed":
                        nursery.start_soon(_kill_some, drawn, house)
                    if what == "edited":
                        nursery.start_soon(_edit_some, drawn, house)
                    try:
                        await house.index.update(wish, lambda facts: None)
                    except (IndexTrouble, MemberLost):
                        assert what == "killed"
                    nursery.cancel_scope.cancel()
        await house.update()
        for path, *_, trouble in house.tables()["file"]:
            if trouble:  # its reader was killed twice
                os.utime(house.root / path)
        await house.update()
        assert house.tables() == await fresh(house)


async def _kill_some(drawn: random.Random, house: IndexHouse) -> None:
    while True:
        await trio.sleep(drawn.uniform(0.01, 0.1))
        for pid in house.statistics().pids[: drawn.randrange(3)]:
            os.kill(pid, signal.SIGKILL)


async def _edit_some(drawn: random.Random, house: IndexHouse) -> None:
    while True:
        await trio.sleep(0.005)
        _edit(drawn, house)


def _edit(drawn: random.Random, house: IndexHouse) -> str:
    path = f"p{drawn.randrange(6)}/m{drawn.randrange(30)}.py"
    place = house.root / path
    match drawn.randrange(5):
        case 0 if place.exists():
            place.unlink()
        case 1 if place.exists():
            other = house.root / f"p{drawn.randrange(6)}" / f"n{drawn.randrange(30)}.py"
            other.parent.mkdir(exist_ok=True)
            place.rename(other)
        case _:
            lines = [f"import p{drawn.randrange(6)}.m{drawn.randrange(30)}"]
            lines += [f"def f{drawn.randrange(50)}(): return someName{drawn.randrange(50)}" for _ in range(5)]
            house.write(path, "\n".join(lines))
    return path


SERVER = """
import sys, trio
from pathlib import Path
from tests.transports.agent.index.house import open_indexes

async def main():
    async with open_indexes(Path(sys.argv[1])) as house:
        print("up", flush=True)
        await house.update()
        print("done", flush=True)

trio.run(main)
"""


async def test_a_server_that_is_killed_at_any_moment_leaves_an_index_that_goes_on(tmp_path: Path) -> None:
    drawn = random.Random(7)
    async with open_indexes(tmp_path) as house:
        for number in range(800):
            house.write(f"p{number % 30}/m{number}.py", f"def one_{number}(): pass\n" * 20)
        for _ in range(4):
            command = [sys.executable, "-c", SERVER, str(tmp_path)]
            with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as server:  # noqa: ASYNC220
                assert server.stdout is not None
                await trio.to_thread.run_sync(server.stdout.readline)
                await trio.sleep(drawn.uniform(0.1, 0.8))
                server.kill()
        await house.update()
        assert house.tables() == await fresh(house)
