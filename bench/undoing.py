"""Undoing a turn that has changed 1,000 files, on the disk of this directory: with the log, the images and the syncs.

Ours asks the log what the turn has done, reads the files and their images, checks each file twice, and replaces them in
one group. It is done when it is on the disk. Beside it stands a loop that knows the contents already, and writes,
syncs and renames one file after the other, without looking at what it replaces.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter

import trio

from actors.agent.images import Images
from actors.agent.log import SessionLog
from actors.agent.messages import LogEntry
from actors.agent.undoing import undo
from actors.kernel import Registry, Stage
from actors.kernel import run as run_tree
from actors.store import StateDirectory, all_of, store_spec
from bench.harness import Result, Unit, in_turns
from codec.agent.action_events import FileChanged, TurnUndone
from codec.agent.approvals import UndoReport, UndoWish
from codec.agent.files import digest_of
from codec.agent.kept import SessionRow
from codec.agent.sessions import SessionFact
from transports.agent.tree import FolderTrees

FILES, FOLDERS = 1_000, 100
MILLISECONDS = Unit("ms", cost=True)
LINE = b"def function(argument):  # as in any source\n"


def cases(name: str, rounds: int) -> Iterator[Result]:
    """`name`: of the bench in which they stand."""
    mine, theirs = in_turns([_ours, _loop], max(1, rounds))
    case = f"undo of {FILES:,} files"
    yield Result.between(name, case, "allowed", [(each, 1_000.0) for each in mine], MILLISECONDS, goal=1.0)
    yield Result.between(name, case, "a loop that syncs each", list(zip(mine, theirs, strict=True)), MILLISECONDS)


def paths() -> list[str]:
    return [f"src/d{number % FOLDERS}/f{number}.py" for number in range(FILES)]


def before(path: str) -> bytes:
    return LINE * 50 + path.encode()


def after(path: str) -> bytes:
    return before(path) + b"# changed\n"


def _written(root: Path, content: Callable[[str], bytes]) -> None:
    for path in paths():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content(path))
    os.sync()


def _ours() -> float:
    return trio.run(_undone)


async def _undone() -> float:
    """Milliseconds."""
    stages: list[Stage] = []
    with _place() as place, StateDirectory.claim(Path(place, "state")) as directory:
        root = Path(place, "project")
        _written(root, after)
        async with trio.open_nursery() as nursery:
            await nursery.start(partial(run_tree, store_spec(directory), on_stage=stages.append))
            took = await _timed(stages[0].registry, root)
            nursery.cancel_scope.cancel()
    return took


async def _timed(registry: Registry, root: Path) -> float:
    log, images = SessionLog(registry, "s"), Images(registry, "s")
    olds = await all_of(map(before, paths()), images.keep)
    news = await all_of(map(after, paths()), images.keep)
    entries = []
    for number, (path, old, new) in enumerate(zip(paths(), olds, news, strict=True)):
        event = FileChanged(
            change_id=f"c{number}",
            turn_id="t",
            file_path=path,
            action="modify",
            status="done",
            before=old,
            after=new,
            before_hash=digest_of(before(path)),
            after_hash=digest_of(after(path)),
        )
        entries.append(LogEntry(number + 1, event))
    position = await log.keep(entries, None, 0)
    row = SessionRow(fact=SessionFact(id="s", workspace_id="w", created_at="", updated_at=""))
    hands = FolderTrees().hands(str(root))
    seq = FILES

    async def keep(event: TurnUndone) -> None:
        nonlocal position, seq
        seq += 1
        position = await log.keep([LogEntry(seq, event)], row, position)

    began = perf_counter()
    report: UndoReport = await undo(
        log, images, hands, row, UndoWish(), False, by="", differ=lambda path, before, after: "", keep=keep
    )
    took = perf_counter() - began
    assert {file.outcome for file in report.files} == {"done"}
    assert all((root / path).read_bytes() == before(path) for path in paths())
    return took * 1e3


def _loop() -> float:
    with _place() as place:
        root = Path(place, "project")
        _written(root, after)
        began = perf_counter()
        for path in paths():
            with (root / "draft").open("wb") as file:
                file.write(before(path))
                file.flush()
                os.fsync(file.fileno())
            os.rename(root / "draft", root / path)
        for number in range(FOLDERS):
            folder = os.open(root / "src" / f"d{number}", os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        return (perf_counter() - began) * 1e3


def _place() -> tempfile.TemporaryDirectory[str]:
    root = Path(__file__).parent.parent
    return tempfile.TemporaryDirectory(prefix=".bench-", dir=root if os.access(root, os.W_OK) else None)
