"""A base folder on a disk does what one on paper does, whatever is asked of it and whatever peers do to it."""

import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import trio.testing
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from codec.ipc.folder import Answer, BaseGone, BothFiles, Identity, Occupied, Spoiled, Tray, Unreadable
from tests.ipc.paper import PaperBase
from tests.transports.ipc.places import answered, asked, refused
from transports.ipc.base import FolderBase

IDS = ("a", "b.c", "D-1")
NOBODY = Identity(0, 0)
DAY = "2026-01-31"


def contents(id: str) -> list[bytes]:  # noqa: A002 - as in the contract
    whole = [asked(id), asked(id, text="more"), answered(id, 1), answered(id, {"x": [1]}), refused(id)]
    return [*whole, b"", b"null", whole[0][:-3], whole[2][:-1], asked("another"), b"\xff\xfe"]


def foreign_put(path: Path, tray: Tray, id: str, data: bytes) -> None:  # noqa: A002
    """As a peer does who writes a draft and renames it."""
    draft = path / "tmp" / "theirs"
    draft.write_bytes(data)
    now = time.time_ns()  # finer than the disk's clock, by which two drafts in a row may look the same
    os.utime(draft, ns=(now, now))
    os.replace(draft, path / tray.value / f"{id}.json")


steps = st.one_of(
    st.tuples(st.just("publish"), st.sets(st.sampled_from(IDS)), st.integers(0, 1)),
    st.tuples(st.just("answer"), st.sampled_from(IDS), st.integers(2, 10)),
    st.tuples(st.sampled_from(["take_away", "set_aside", "withdraw_one"]), st.sampled_from(IDS), st.booleans()),
    st.tuples(st.sampled_from(["withdraw", "reopen"]), st.sampled_from(IDS), st.none()),
    st.tuples(st.just("write"), st.sampled_from(IDS), st.sampled_from([Tray.FAILED, Tray.EVALUATIONS])),
    st.tuples(st.just("archive"), st.sets(st.sampled_from(IDS)), st.sampled_from([None, Tray.FAILED, Tray.RESPONSES])),
    st.tuples(st.just("archive_seen"), st.sampled_from(IDS), st.sampled_from(["both", "request", "response", ""])),
    st.tuples(st.just("put request"), st.sampled_from(IDS), st.integers(0, 10)),
    st.tuples(st.just("put response"), st.sampled_from(IDS), st.integers(0, 10)),
    st.tuples(st.just("drop"), st.sampled_from(IDS), st.sampled_from([Tray.REQUESTS, Tray.RESPONSES])),
    st.tuples(st.just("wait"), st.just(""), st.sampled_from([0.4, 0.7, 1.1])),
)


class Both:
    """The same on both; identities are each one's own."""

    def __init__(self, path: Path, clock: trio.testing.MockClock) -> None:
        self.path = path
        self.clock = clock
        self.paper = PaperBase()
        self.folder = FolderBase(path, sync=False, now=clock.current_time)

    async def ask(self, call: str, *args: Any, identified: bool | None = None) -> None:
        told = []
        for base in (self.paper, self.folder):
            given = args
            if identified is not None:
                both = await base.look(args[0])
                there = both.response.identity if isinstance(both.response, Answer | Spoiled) else None
                there = both.stands_as if call == "withdraw" else there
                given = (args[0], there if identified and there is not None else NOBODY, *args[1:])
            elif call == "archive_seen":
                both = await base.look(args[0])
                seen = both if args[1] in ("both", "request") else replace(both, stands_as=NOBODY)
                seen = seen if args[1] in ("both", "response") else replace(seen, response=Spoiled(NOBODY, "none"))
                given = ([args[0]], DAY, None, {}, {args[0]: seen})
            try:
                told.append(bare(await getattr(base, call.removesuffix("_seen"))(*given)))
            except Occupied:
                told.append("occupied")
        assert told[0] == told[1], (call, args)

    async def do(self, what: str, which: Any, how: Any) -> None:
        match what:
            case "publish":
                await self.ask("publish", {id: contents(id)[how] for id in sorted(which)})  # noqa: A001
            case "answer":
                await self.ask("answer", which, contents(which)[how])
            case "take_away":
                await self.ask("take_away", which, identified=how)
            case "set_aside":
                await self.ask("set_aside", which, "why", identified=how)
            case "withdraw_one":
                await self.ask("withdraw", which, identified=how)
            case "withdraw" | "reopen":
                await self.ask(what, which)
            case "write":
                await self.ask("write", how, which, refused(which))
            case "archive":
                await self.ask("archive", sorted(which), DAY, how)
            case "archive_seen":
                await self.ask("archive_seen", which, how)
            case "put request" | "put response":
                tray = Tray.REQUESTS if what == "put request" else Tray.RESPONSES
                self.paper.foreign_put(tray, which, contents(which)[how])
                foreign_put(self.path, tray, which, contents(which)[how])
            case "drop":
                self.paper.foreign_drop(how, which)
                (self.path / how.value / f"{which}.json").unlink(missing_ok=True)
            case "wait":
                self.clock.jump(how)

    async def compare(self) -> None:
        for id in IDS:  # noqa: A001
            await self.ask("look", id)
            for tray in (Tray.FAILED, Tray.EVALUATIONS):
                await self.ask("read", tray, id)
        for tray in (Tray.REQUESTS, Tray.RESPONSES, Tray.FAILED, Tray.EVALUATIONS):
            await self.ask("ids", tray)
        assert len(self.paper.quarantined) == (await self.folder.health()).quarantined
        assert os.listdir(self.path / "tmp") == []


def bare(told: object) -> object:
    """Without identities, times, and fingerprints of what cannot be read."""
    if isinstance(told, dict):
        return {id: repr(why) for id, why in told.items()}  # noqa: A001
    if isinstance(told, Identity):
        return NOBODY
    if isinstance(told, BothFiles):
        told = replace(told, stands_as=None if told.stands_as is None else NOBODY)
    if isinstance(told, BothFiles) and isinstance(told.request, Unreadable):
        told = replace(told, request=replace(told.request, fingerprint=b""))
    if isinstance(told, BothFiles) and isinstance(told.response, Answer | Spoiled):
        return replace(told, response=replace(told.response, identity=NOBODY), took=None)
    return told


async def _live(path: Path, clock: trio.testing.MockClock, story: list[tuple[str, Any, Any]]) -> None:
    both = Both(path, clock)
    try:
        await both.compare()
        for what, which, how in story:
            await both.do(what, which, how)
            await both.compare()
    finally:
        both.folder.close()


@pytest.mark.slow
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, max_size=25))
def test_a_folder_does_what_paper_does(story: list[tuple[str, Any, Any]]) -> None:
    clock = trio.testing.MockClock()
    with TemporaryDirectory() as place:
        trio.run(_live, Path(place, "base"), clock, story, clock=clock)


async def test_a_base_that_is_not_there_is_not_on_paper_either(tmp_path: Path) -> None:
    paper, folder = PaperBase(), FolderBase(tmp_path / "base")
    await folder.ids(Tray.REQUESTS)
    paper.lose("gone")
    os.rename(tmp_path / "base", tmp_path / "away")
    for base in (paper, folder):
        for call in (base.ids(Tray.REQUESTS), base.publish({}), base.look("a"), base.archive(["a"], DAY)):
            with pytest.raises(BaseGone):
                await call
    folder.close()
