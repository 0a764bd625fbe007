"""A real folder is looked at a part at a time; what changes in it is told, and what is warm is told first."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from codec.agent.index.telling import WatchNews
from tests.patience import PATIENCE
from transports.agent.index import looking, watching
from transports.agent.index.looking import FolderGone, TreeLook
from transports.agent.index.watching import LOOKERS, TreeWatches
from transports.agent.walking import RULES
from transports.folder import rooted
from transports.folder.rooted import FileEntry, Rooted

MANY = 30
FULL = 3 * MANY
"""Looks in which everything has had its turn."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    for folder in ("src/deep/deeper", "node_modules/lib", ".git/objects", ".hidden"):
        place.joinpath(folder).mkdir(parents=True)
    place.joinpath(".gitignore").write_text("node_modules/\n*.log\nbuild/\n")
    for number in range(MANY):
        part = place / f"part{number:02}"
        part.mkdir()
        part.joinpath("a.py").write_text("a = 1\n")
        part.joinpath("b.py").write_text("b = 1\n")
    place.joinpath("src/a.py").write_text("a = 1\n")
    return place


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if all had been written long ago, and a look had time for one step in each of its rounds."""
    monkeypatch.setattr(rooted, "TICK_NS", -(1 << 62))
    monkeypatch.setattr(rooted, "COARSE_NS", -(1 << 62))
    monkeypatch.setattr(looking, "TURN_SECONDS", 0.0)


@pytest.fixture
def tree(root: Path) -> Iterator[TreeLook]:
    look = TreeLook(Rooted(root, firm=True))
    look.begin()
    yield look
    look.close()


def turns(tree: TreeLook, many: int = FULL) -> set[str]:
    return {path for _ in range(many) for path in tree.turn(())}


def test_nothing_is_told_of_what_does_not_change_is_ignored_or_hidden(root: Path, tree: TreeLook) -> None:
    assert len(tree) == 2 * MANY + 2
    assert turns(tree) == set()
    for path in ("node_modules/lib/x.js", ".git/objects/x", ".hidden/x.py", "src/x.log", ".git/config"):
        root.joinpath(path).write_text("x")
    root.joinpath("build").mkdir()
    root.joinpath("build/x.py").write_text("x")
    assert turns(tree) == set()


def in_place(root: Path) -> None:
    root.joinpath("part20/a.py").write_text("a = 22\n")


def same_size_and_time(root: Path) -> None:
    place = root / "part20/a.py"
    status = place.stat()
    place.write_text("a = 2\n")
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))


def replaced(root: Path) -> None:
    draft = root / "part20/.draft"
    draft.write_text("a = 2\n")
    draft.rename(root / "part20/a.py")


def made(root: Path) -> None:
    root.joinpath("part20/c.py").write_text("c = 1\n")


def deleted(root: Path) -> None:
    root.joinpath("part20/a.py").unlink()


def folder_made(root: Path) -> None:
    root.joinpath("part20/new/newer").mkdir(parents=True)
    root.joinpath("part20/new/newer/c.py").write_text("c = 1\n")


def folder_renamed(root: Path) -> None:
    root.joinpath("part20").rename(root / "renamed")


def folder_deleted(root: Path) -> None:
    shutil.rmtree(root / "part20")


def rules_made(root: Path) -> None:
    root.joinpath("part20/.gitignore").write_text("b.py\n")


def rules_changed(root: Path) -> None:
    root.joinpath(".gitignore").write_text("*.log\n")


def file_for_folder(root: Path) -> None:
    shutil.rmtree(root / "part20")
    root.joinpath("part20").write_text("part = 20\n")


def folder_for_file(root: Path) -> None:
    root.joinpath("part20/a.py").unlink()
    root.joinpath("part20/a.py").mkdir()
    root.joinpath("part20/a.py/c.py").write_text("c = 1\n")


def link_for_file(root: Path) -> None:
    root.joinpath("part20/a.py").unlink()
    root.joinpath("part20/a.py").symlink_to("b.py")


def on_top(root: Path) -> None:
    root.joinpath("top.py").write_text("top = 1\n")


CHANGES: list[tuple[Callable[[Path], None], set[str]]] = [
    (in_place, {"part20/a.py"}),
    (same_size_and_time, {"part20/a.py"}),
    (replaced, {"part20/a.py"}),
    (made, {"part20/c.py"}),
    (deleted, {"part20/a.py"}),
    (folder_made, {"part20/new"}),
    (folder_renamed, {"part20", "renamed"}),
    (folder_deleted, {"part20"}),
    (rules_made, {"part20"}),
    (rules_changed, {"", ".gitignore"}),
    (file_for_folder, {"part20"}),
    (folder_for_file, {"part20/a.py"}),
    (link_for_file, {"part20/a.py"}),
    (on_top, {"top.py"}),
]
OF_CHANGES = pytest.mark.parametrize(
    ("change", "wanted"), CHANGES, ids=[getattr(change, "__name__", "") for change, _ in CHANGES]
)


@OF_CHANGES
def test_whatever_changes_is_told_when_its_turn_comes_and_only_that_and_once(
    root: Path, tree: TreeLook, change: Callable[[Path], None], wanted: set[str]
) -> None:
    change(root)
    assert turns(tree) == wanted
    assert turns(tree) == set()


@OF_CHANGES
def test_what_comes_into_a_folder_that_has_changed_is_told_too(
    root: Path, tree: TreeLook, change: Callable[[Path], None], wanted: set[str]
) -> None:
    change(root)
    turns(tree)
    places = [root / path for path in (*wanted, "part21", "src/deep/deeper") if path and (root / path).is_dir()]
    for place in places:
        place.joinpath("further.py").write_text("further = 1\n")
    assert turns(tree) == {place.joinpath("further.py").relative_to(root).as_posix() for place in places}


@pytest.mark.parametrize(
    ("warm", "change", "wanted"),
    [
        ("part20/a.py", in_place, "part20/a.py"),
        ("part20/a.py", replaced, "part20/a.py"),
        ("part20/a.py", deleted, "part20/a.py"),
        ("part20/b.py", made, "part20/c.py"),
        ("part20/gone.py", made, "part20/c.py"),
        ("part20", folder_made, "part20/new"),
    ],
)
def test_what_is_warm_and_what_is_new_beside_it_is_told_by_the_next_look(
    root: Path, tree: TreeLook, warm: str, change: Callable[[Path], None], wanted: str
) -> None:
    tree.turn(())
    change(root)
    assert tree.turn([warm]) == [wanted]


def test_paths_that_are_warm_and_lead_out_or_nowhere_are_not_looked_at(
    root: Path, tree: TreeLook, monkeypatch: pytest.MonkeyPatch
) -> None:
    def noted(name: str, here: int) -> int:
        looked.append(name)
        return mark_of(name, here)

    looked: list[str] = []
    mark_of = looking._mark_of
    monkeypatch.setattr(looking, "_mark_of", noted)
    monkeypatch.setattr(tree, "_go_on", lambda round_, anew, until: round_)
    odd = ["../other.py", "/etc/passwd", "", "/", "part20//a.py", "node_modules/lib/x.js", ".git/config", "x" * 9_000]
    assert tree.turn([*odd, "\0", "part20/\0", "part20/../part20/a.py"]) == []
    assert set(looked) == {RULES}


def test_a_look_ends_with_its_time_and_the_next_one_goes_on(
    root: Path, tree: TreeLook, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    files, times = tree._look_at_files, tree._look_at_time

    def at_files(names: tuple[str, ...], some: list[str]) -> None:
        looked.append(f"in {names}")
        files(names, some)

    def at_time(names: tuple[str, ...]) -> None:
        looked.append(f"at {names}")
        times(names)

    monkeypatch.setattr(tree, "_look_at_files", at_files)
    monkeypatch.setattr(tree, "_look_at_time", at_time)
    steps = []
    for _ in range(2 * MANY):
        tree.turn(())
        steps.append(len(looked))
        looked.clear()
    assert max(steps) == 2
    monkeypatch.setattr(looking, "TURN_SECONDS", 60.0)
    tree.turn(())
    assert max(map(looked.count, looked)) == 2, "the rest of a round, and another one"


def test_what_was_written_just_now_is_told_again_because_it_might_change_unseen(
    root: Path, tree: TreeLook, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = root / "part20/a.py"
    place.write_text("a = 2\n")
    now = time.time_ns()
    monkeypatch.setattr(rooted, "TICK_NS", now)
    monkeypatch.setattr(rooted, "COARSE_NS", now)
    assert "part20/a.py" in tree.turn(["part20/a.py"])
    status = place.stat()
    place.write_text("a = 3\n")
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert "part20/a.py" in tree.turn(["part20/a.py"])


@pytest.mark.parametrize(
    ("age", "changed", "fresh"), [(0, 1, True), (39, 1, True), (41, 1, False), (1_999, 0, True), (2_001, 0, False)]
)
def test_a_file_is_fresh_for_a_tick_of_a_disk_s_clock(
    monkeypatch: pytest.MonkeyPatch, age: int, changed: int, fresh: bool
) -> None:
    """Milliseconds; of a disk that counts whole seconds, the times end with zeros."""
    monkeypatch.undo()
    then = 1_800_000_000_000_000_000 + changed
    monkeypatch.setattr(time, "time_ns", lambda: then + age * 1_000_000)
    assert FileEntry(1, then, then, 1).is_fresh is fresh
    assert FileEntry(1, then, 0, 1).is_fresh is fresh


@pytest.mark.parametrize("again", [False, True])
def test_a_folder_that_is_gone_or_another_one_is_gone(root: Path, tree: TreeLook, again: bool) -> None:
    root.rename(root.with_name("elsewhere"))
    if again:
        root.mkdir()
    with pytest.raises(FolderGone):
        tree.turn(())


def test_of_too_many_files_the_near_ones_are_looked_at(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "MOST_FILES", 10)
    tree = TreeLook(Rooted(root, firm=True))
    tree.begin()
    assert 10 <= len(tree) <= 12
    root.joinpath("top.py").write_text("top = 1\n")
    assert turns(tree) == {"top.py"}


# -- when


async def test_all_is_read_first_and_then_what_has_changed_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(watching, "SHARE", 0.0)
    told: list[WatchNews] = []
    over, heard = trio.Event(), trio.Event()

    def hear(news: WatchNews) -> None:
        told.append(news)
        if news.lost:
            root.joinpath("part20/a.py").write_text("a = 22\n")
        else:
            heard.set()

    async def look() -> None:
        await TreeWatches().look(str(root), hear, lambda: ["part20/a.py"])
        over.set()

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(look)
            await heard.wait()
            os.rename(root, root.with_name("elsewhere"))
            await over.wait()
    assert told == [WatchNews(lost=True), WatchNews(("part20/a.py",))]


@pytest.mark.parametrize(
    ("took", "many", "pause"), [(0.0, 1, 2), (0.1, 1, 2), (0.5, 1, 10), (0.1, LOOKERS, 2), (0.1, 16, 8), (0.5, 16, 40)]
)
async def test_looking_takes_a_small_part_of_the_time_however_many_folders_are_looked_at(
    root: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, took: float, many: int, pause: float
) -> None:
    looks: list[float] = []

    def turn(tree: TreeLook, warm: object) -> list[str]:
        looks.append(trio.current_time())
        tree.took = took
        return []

    async def at_once(watches: TreeWatches, job: Callable[[], object], path: str) -> object:
        return job()

    monkeypatch.setattr(TreeLook, "turn", turn)
    monkeypatch.setattr(TreeWatches, "_do", at_once)
    watches = TreeWatches()
    async with trio.open_nursery() as nursery:
        for _ in range(many):
            nursery.start_soon(watches.look, str(root), lambda news: None, lambda: ())
        await trio.sleep(200.5)
        nursery.cancel_scope.cancel()
    assert len(looks) == pytest.approx(many * (200 / pause), abs=many)
