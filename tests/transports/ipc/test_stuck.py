"""What cannot be changed: one entry, of which the others know nothing; or all of them, which is said."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from codec.ipc.folder import BaseUnwritable, EntryStuck, Tray
from tests.transports.ipc.places import answered, asked, identity, put, refused
from transports.ipc import archiving, writing
from transports.ipc.base import FolderBase

BAD = "stuck"  # no draft has that in its name, which is a number
DAY = "2026-01-31"
Change = Callable[[FolderBase, Path], Any]

CHANGES: dict[str, Change] = {
    "answered": lambda base, path: base.answer(BAD, answered(BAD)),
    "taken away": lambda base, path: base.take_away(BAD, identity(path / "responses" / "stuck.json")),
    "set aside": lambda base, path: base.set_aside(BAD, identity(path / "responses" / "stuck.json"), "why"),
    "withdrawn": lambda base, path: base.withdraw(BAD),
    "recorded": lambda base, path: base.write(Tray.FAILED, BAD, refused(BAD)),
    "archived": lambda base, path: base.archive([BAD], DAY),
    "reopened": lambda base, path: base.reopen(BAD),
}


@contextmanager
def stuck(patch: pytest.MonkeyPatch, number: int = errno.EPERM) -> Iterator[None]:
    """Nothing that is called BAD can be renamed or deleted, and nothing put in its place. So it is with a file that is
    immutable, a mount point, or an inode that is lost."""

    def failing(call: Any) -> Any:
        def asked_for(*args: Any, **more: Any) -> Any:
            if any(isinstance(name, str) and BAD in name for name in args):
                raise OSError(number, os.strerror(number))
            return call(*args, **more)

        return asked_for

    with patch.context() as inner:
        for where, name in ((os, "rename"), (os, "unlink"), (writing, "rename_new"), (archiving, "rename_new")):
            inner.setattr(where, name, failing(getattr(where, name)))
        yield


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("number", [errno.EPERM, errno.EBUSY, errno.EIO, errno.EUCLEAN, errno.EACCES])
async def test_an_entry_that_cannot_be_changed_is_no_trouble_of_any_other(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch, change: str, number: int
) -> None:
    await base.ids(Tray.REQUESTS)
    if change != "answered":
        for tray in (Tray.REQUESTS, Tray.RESPONSES, Tray.FAILED):
            put(path, tray, BAD, refused(BAD))
    told: list[str] = []

    async def one() -> None:
        with pytest.raises(EntryStuck, match=r"cannot be changed: "):
            await CHANGES[change](base, path)
        told.append("stuck")

    async def others(number: int) -> None:
        await base.answer(f"r{number}", answered(f"r{number}"))
        assert await base.publish({f"r{number}": asked(f"r{number}")}) == {}
        told.append("done")

    with stuck(monkeypatch, number):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one)
            for other in range(10):
                nursery.start_soon(others, other)
        assert (await base.health()).trouble is None
    assert sorted(told) == ["done"] * 10 + ["stuck"]
    assert await base.ids(Tray.RESPONSES) - {BAD} == {f"r{number}" for number in range(10)}
    await CHANGES[change](base, path)
    assert os.listdir(path / "tmp") == []


@pytest.mark.parametrize("count", [1, 2, 5, 40])
async def test_of_requests_that_are_published_together_those_that_are_stuck_are_named_and_the_others_stand(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    await base.ids(Tray.REQUESTS)
    group = {name: asked(name) for name in [BAD, "stuck-too", *(f"r{number}" for number in range(count))]}
    with stuck(monkeypatch):
        found = await base.publish(group)
        assert {id: str(why) for id, why in found.items()} == {  # noqa: A001
            name: f"requests/{name}.json cannot be written: Operation not permitted" for name in (BAD, "stuck-too")
        }
        found = await base.publish({BAD: group[BAD]})
        assert str(found[BAD]) == await a_reason(base)
    assert await base.ids(Tray.REQUESTS) == group.keys() - {BAD, "stuck-too"}
    assert os.listdir(path / "tmp") == []
    assert await base.publish(group) == {}
    assert await base.ids(Tray.REQUESTS) == group.keys()


async def a_reason(base: FolderBase) -> str:
    return f"a file in {(await base.health()).path} cannot be changed: Operation not permitted"


@pytest.mark.parametrize("which", ["no draft can be written", "a room may not be changed", "a room is read-only"])
async def test_that_nothing_can_be_changed_is_the_bases_trouble_until_something_could_be(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    await base.publish({"a": asked("a")})

    def refuse(*args: Any, **more: Any) -> Any:
        number = errno.EACCES if which == "a room may not be changed" else errno.EROFS
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        if which == "no draft can be written":
            patch.setattr(writing, "write_drafts", lambda here, contents, *, sync: [OSError(errno.EROFS, "Read-only")])
        else:
            patch.setattr(os, "rename", refuse)
            patch.setattr(writing, "rename_new", refuse)
        if which == "a room may not be changed":
            patch.setattr(os, "access", lambda *args, **more: False)
        for change in (base.publish({"b": asked("b")}), base.answer("a", answered("a"))):
            with pytest.raises(BaseUnwritable, match=f"{path} cannot be written to: "):
                await change
        assert "cannot be written to" in str((await base.health()).trouble)
        assert (await base.look("a")).request is not None
    assert await base.publish({"b": asked("b")}) == {}
    assert (await base.health()).trouble is None
