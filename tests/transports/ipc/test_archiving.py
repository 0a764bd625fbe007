"""A request goes into the archive with all its files, or stays where it is with all of them."""

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path

import pytest

from codec.ipc.folder import Tray
from tests.transports.ipc.places import opened
from transports.ipc.archiving import finish_archiving as finish
from transports.ipc.archiving import put_away

Room = Callable[[Tray], int]
DAY = "2026-01-31"
FILED, STAGED = f"archive/{DAY}", f"archive/.staging/{DAY}~a~"


def put(room: Room) -> None:
    put_away(room, ["a", "b"], DAY, set())


def there(base: Path) -> set[str]:
    """All files, and what is staged even if it is empty."""
    found = (
        path
        for path in base.rglob("*")
        if path.is_file() or (path.parent.name == ".staging" and not any(path.iterdir()))
    )
    return {str(path.relative_to(base)) for path in found}


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells what is open")
@pytest.mark.parametrize(
    ("before", "act", "after"),
    [
        ([], put, []),
        (["requests/a.json"], put, [f"{FILED}/a/request.json"]),
        (["requests/c.json"], put, ["requests/c.json"]),
        (
            ["requests/a.json", "responses/a.json", "failed/a.json", "eval/a.json", "responses/b.json"],
            put,
            [
                *(f"{FILED}/a/{one}.json" for one in ("request", "response", "failed", "eval")),
                f"{FILED}/b/response.json",
            ],
        ),
        (
            ["requests/a.json", f"{FILED}/a/request.json", f"{FILED}/a~2/request.json"],
            put,
            [f"{FILED}/{name}/request.json" for name in ("a", "a~2", "a~3")],
        ),
        ([], finish, []),
        ([f"{STAGED}req/"], finish, []),
        ([f"{STAGED}req/request.json"], finish, [f"{FILED}/a/request.json"]),
        (
            [f"{STAGED}req.res/request.json", "responses/a.json", "failed/a.json"],
            finish,
            [f"{FILED}/a/request.json", f"{FILED}/a/response.json", "failed/a.json"],
        ),
        (  # the one in the room was submitted since
            [f"{STAGED}req.res/request.json", "requests/a.json", "responses/a.json"],
            finish,
            [f"{FILED}/a/request.json", "requests/a.json", "responses/a.json"],
        ),
        ([f"{STAGED}req/request.json", FILED], finish, ["requests/a.json", FILED]),
        (
            [f"{STAGED}req/request.json", FILED, "requests/a.json"],
            finish,
            ["requests/a.json", FILED, f"{STAGED}req/request.json"],
        ),
        ([f"{STAGED}req"], finish, [f"{STAGED}req"]),
        (["archive/.staging/notes/x"], finish, ["archive/.staging/notes/x"]),
        (["archive/.staging"], finish, ["archive/.staging"]),
    ],
)
def test_all_files_of_a_request_are_together_whatever_stood_there_and_no_folder_stays_open(
    tmp_path: Path, before: Iterable[str], act: Callable[[Room], None], after: Iterable[str]
) -> None:
    for name in before:
        path = tmp_path / name
        path.mkdir(parents=True) if name.endswith("/") else path.parent.mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_text(name)
    with ExitStack() as held:
        rooms = {}
        for tray in Tray:
            (tmp_path / tray.value).mkdir(exist_ok=True)
            rooms[tray] = os.open(tmp_path / tray.value, os.O_RDONLY)
            held.callback(os.close, rooms[tray])
        open_before = opened(tmp_path)
        act(rooms.__getitem__)
        assert opened(tmp_path) == open_before
    assert there(tmp_path) == set(after)
