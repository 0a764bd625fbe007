"""The judge's data in the store: problems, their last results, the settings, and the runs that are under way.

    space           key         value
    judge           settings    the settings in which pages differ from the configuration, as on the wire
    judge/problem   its id      Kept
    judge/results   its id      Recorded: the last result of each case, with its basis
    judge/off       its id      nothing: a user has taken this problem off the list
    judge/run       its id      LastRun: this run of the problem has begun, and has not been reported as over

If the mark of a run exists when the server starts, the last server ended during that run. Its results so far were
stored, but not the problem's standing by them. Results are stored apart from their problem, because at the start all
problems are read.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import msgspec

from actors.judge.ledger import Recorded
from actors.kernel import Registry
from actors.store import STORE, Delete, Put, StoreClient
from codec.judge import (
    Commands,
    LastRun,
    Listed,
    RunSettings,
    Standing,
    Summary,
    Task,
    with_what_makes_sense,
    without_unnamed,
)

SETTINGS, PROBLEMS, RESULTS, RUNS = "judge", "judge/problem", "judge/results", "judge/run"
OFF = "judge/off"
MOST_TEXT = 4_096
"""Characters of a kept result's output, and of its standard error: a reload shows the beginning."""
MOST_BYTES = 1 << 20
"""All results of a problem together: a value of the store may be this large."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    task: Task
    """Without its tests, which are in the folder."""
    contest_id: str
    task_id: str
    identity: str
    """Empty for a folder that was found and never posted. The first problem of that name may take it."""
    at: float
    """When it was last posted, in seconds of the wall clock."""
    cases: int | None = None
    """None: its folder has not been read."""
    summary: Summary | None = None
    last: LastRun | None = None
    """The run that the summary describes."""
    standing: Standing | None = None

    @property
    def id(self) -> str:
        return f"{self.contest_id}/{self.task_id}"

    @property
    def listed(self) -> Listed:
        return Listed(
            id=self.id,
            name=self.task.name,
            group=self.task.group,
            contest_id=self.contest_id,
            task_id=self.task_id,
            url=self.task.url,
            cases=self.cases,
            standing=self.standing,
            batch=self.task.batch,
        )


_encode = msgspec.json.Encoder().encode
_decode_kept = msgspec.json.Decoder(Kept).decode
_decode_results = msgspec.json.Decoder(tuple[Recorded, ...]).decode
_decode_run = msgspec.json.Decoder(LastRun).decode


class Keeping:
    """Every call may raise the store's errors."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    @property
    def _store(self) -> StoreClient:
        return StoreClient(self._registry.get(STORE))

    # -- settings

    async def settings(self, configured: RunSettings, commands: Commands) -> tuple[RunSettings, list[str]]:
        """The configured settings with the stored changes; and a sentence for each change that is not obeyed."""
        kept = await self._store.get(SETTINGS, "settings")
        if kept is None:
            return configured, []
        changes, not_obeyed = without_unnamed(msgspec.json.decode(kept), commands)
        return with_what_makes_sense(configured, changes), not_obeyed

    async def keep_settings(self, settings: RunSettings, configured: RunSettings) -> None:
        changes = _changes(msgspec.to_builtins(configured), msgspec.to_builtins(settings))
        await self._store.put(SETTINGS, "settings", _encode(changes))

    # -- problems

    async def problems(self) -> list[Kept]:
        """All of them, the oldest first."""
        found = [kept async for _, value in self._all(PROBLEMS) if (kept := _read(value)) is not None]
        return sorted(found, key=lambda kept: kept.at)

    async def problem(self, id: str) -> tuple[Kept | None, tuple[Recorded, ...], LastRun | None]:  # noqa: A002
        """The problem, its results, and the run during which the last server ended."""
        kept, results, mark = await self._store.get_each((PROBLEMS, id), (RESULTS, id), (RUNS, id))
        return None if kept is None else _read(kept), _recorded(results), _interrupted(mark)

    async def keep(self, kept: Kept) -> None:
        """A power cut may undo this, and then also whatever is stored afterwards: a post that is taken off the queue
        when this returns is in the queue again."""
        await self._store.put(PROBLEMS, kept.id, _encode(kept), soft=True)

    async def results(self, id: str) -> tuple[Recorded, ...]:  # noqa: A002
        return _recorded(await self._store.get(RESULTS, id))

    async def keep_results(self, id: str, results: Sequence[Recorded]) -> None:  # noqa: A002
        await self._store.put(RESULTS, id, _fitting(results))

    async def forget(self, id: str) -> None:  # noqa: A002
        await self._store.together(*(Delete(space, id) for space in (PROBLEMS, RESULTS, RUNS)))

    async def take_off(self, id: str) -> None:  # noqa: A002
        await self._store.put(OFF, id, b"")

    async def put_back(self, id: str) -> None:  # noqa: A002
        await self._store.delete(OFF, id)

    async def taken_off(self) -> list[str]:
        return [key async for key, _ in self._all(OFF)]

    # -- runs

    async def run_began(self, id: str, run: LastRun) -> None:  # noqa: A002
        await self._store.put(RUNS, id, _encode(run))

    async def run_over(self, kept: Kept, results: Sequence[Recorded]) -> None:
        """Stores the results of a run, and that they are complete."""
        await self._store.together(
            Put(RESULTS, kept.id, _fitting(results)),
            Put(PROBLEMS, kept.id, _encode(kept)),
            Delete(RUNS, kept.id),
        )

    async def interrupted(self) -> list[str]:
        """All problems whose last run was cut short by the end of the server."""
        return [key async for key, _ in self._all(RUNS)]

    async def _all(self, space: str) -> AsyncIterator[tuple[str, bytes]]:
        after = ""
        while page := await self._store.keys(space, after=after):
            for pair in page:
                yield pair
            after = page[-1][0]


def _read(value: bytes) -> Kept | None:
    try:
        return _decode_kept(value)
    except msgspec.MsgspecError:  # of another version
        return None


def _recorded(value: bytes | None) -> tuple[Recorded, ...]:
    try:
        return () if value is None else _decode_results(value)
    except msgspec.MsgspecError:  # of another version
        return ()


def _interrupted(mark: bytes | None) -> LastRun | None:
    try:
        return None if mark is None else _decode_run(mark)
    except msgspec.MsgspecError:  # of another version
        return LastRun(run=0, indices=(), cancelled=True)


def _changes(was: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The changes that turn `was` into `now`."""
    return {
        name: _changes(was[name], value) if isinstance(value, dict) else value
        for name, value in now.items()
        if value != was[name]
    }


def _fitting(results: Sequence[Recorded]) -> bytes:
    """The results, with as much of their texts as there is room for; of very many results only the first."""
    most = MOST_TEXT
    while len(encoded := _encode([_shortened(result, most) for result in results])) > MOST_BYTES:
        if most:
            most //= 2
        else:
            results = results[: len(results) // 2]
    return encoded


def _shortened(record: Recorded, most: int) -> Recorded:
    result = record.result
    actual = result.actual[:most]
    shortened = msgspec.structs.replace(
        result,
        actual=actual,
        actual_cut=result.actual_cut or len(actual) < len(result.actual),
        console=result.console[-most:] if most else "",
    )
    return msgspec.structs.replace(record, result=shortened)
