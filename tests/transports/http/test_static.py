import hashlib
import os
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from tests.transports.house import House, open_house, read_until
from transports.http.application import Application
from transports.http.static import DEEPEST, PIECE, TYPES, find, serve_files


@pytest.fixture
def web(tmp_path: Path) -> Path:
    root = tmp_path / "web"
    (root / "parts").mkdir(parents=True)
    (root / "index.html").write_text("<!doctype html>")
    (root / "parts" / "tree.js").write_text("export {}")
    (root / ".secret.txt").write_text("secret")
    (root / "module.py").write_text("secret")
    (tmp_path / "outside.txt").write_text("secret")
    os.symlink(tmp_path / "outside.txt", root / "link.txt")
    os.symlink(tmp_path, root / "up")
    return root


@pytest.fixture
async def house(web: Path) -> AsyncIterator[House]:
    app = Application("files")
    serve_files(app, web)
    async with open_house(app=app) as house:
        yield house


@pytest.mark.parametrize(
    "path",
    [
        "", "..", "../outside.txt", "parts/../index.html", "parts//tree.js", "/index.html", "parts", "parts/",
        ".secret.txt", "module.py", "link.txt", "up/outside.txt", "nothing.html", "index.html/", "parts\\tree.js",
        "index.html\0", "C:/index.html", "a" * 5000 + ".html",
    ],
)  # fmt: skip
def test_a_path_that_leads_out_or_nowhere_finds_nothing(web: Path, path: str) -> None:
    assert find(web, path) is None


def test_a_file_below_the_root_is_found_with_our_type(web: Path) -> None:
    file = find(web, "parts/tree.js")
    assert file is not None
    assert (file.content, file.content_type) == (b"export {}", "text/javascript; charset=utf-8")


def test_a_file_larger_than_a_piece_is_read_when_it_is_sent(web: Path) -> None:
    for size in (PIECE, PIECE + 1):
        (web / "of_size.wasm").write_bytes(bytes(size))
        file = find(web, "of_size.wasm")
        assert file is not None
        assert file.content == (bytes(size) if size == PIECE else web / "of_size.wasm")
        assert file.etag == hashlib.sha256(bytes(size)).hexdigest()[:32]


def test_a_file_may_stand_so_deep_and_have_so_long_a_name(web: Path) -> None:
    deep = web.joinpath(*["d"] * DEEPEST)
    deep.mkdir(parents=True)
    for folder in (deep.parent, deep):
        (folder / "x.txt").write_text("x")
    assert find(web, "d/" * (DEEPEST - 1) + "x.txt") is not None
    assert find(web, "d/" * DEEPEST + "x.txt") is None
    for length in (100, 101):
        (web / f"{'x' * (length - 4)}.txt").write_text("x")
    assert find(web, f"{'x' * 96}.txt") is not None
    assert find(web, f"{'x' * 97}.txt") is None


@pytest.mark.parametrize("path", ["/", "/index.html"])
async def test_the_index_is_served(house: House, path: str) -> None:
    async with httpx.AsyncClient() as client:
        answer = await client.get(house.url + path)
    assert (answer.status_code, answer.text) == (200, "<!doctype html>")
    assert answer.headers["content-type"] == TYPES[".html"]
    assert answer.headers["cache-control"] == "no-cache"
    assert "default-src 'self'" in answer.headers["content-security-policy"]


async def test_an_unchanged_file_is_304_and_a_changed_one_is_sent_again(house: House, web: Path) -> None:
    async with httpx.AsyncClient() as client:
        first = await client.get(f"{house.url}/parts/tree.js")
        known = {"if-none-match": first.headers["etag"]}
        again = await client.get(f"{house.url}/parts/tree.js", headers=known)
        (web / "parts" / "tree.js").write_text("export { tree }")
        changed = await client.get(f"{house.url}/parts/tree.js", headers=known)
    assert (again.status_code, again.content) == (304, b"")
    assert (changed.status_code, changed.text) == (200, "export { tree }")


async def test_head_sends_no_body(house: House) -> None:
    async with httpx.AsyncClient() as client:
        answer = await client.head(house.url)
        assert (answer.status_code, answer.content, answer.headers["content-length"]) == (200, b"", "15")
        assert (await client.get(house.url)).status_code == 200


@pytest.mark.parametrize(
    "target", ["/../outside.txt", "/%2e%2e/outside.txt", "/..%2foutside.txt", "/.secret.txt", "/link.txt", "/%00"]
)
async def test_no_target_leads_out_of_the_folder(house: House, target: str) -> None:
    answer = await house.exchange(house.request(f"GET {target} HTTP/1.1", "Connection: close"))
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert b"secret\n" not in answer.split(b"\r\n\r\n", 1)[1].replace(b".secret", b"")


LARGE_FILE = bytes(range(256)) * 64 * 1024
"""16 MiB, more than two sockets hold."""


@pytest.fixture
def large(web: Path) -> str:
    (web / "large.wasm").write_bytes(LARGE_FILE)
    return "/large.wasm"


@pytest.mark.slow
async def test_a_large_file_is_sent_whole_or_not_at_all(house: House, web: Path, large: str) -> None:
    async with httpx.AsyncClient() as client:
        first = await client.get(f"{house.url}{large}")
        known = {"if-none-match": first.headers["etag"]}
        again = await client.get(f"{house.url}{large}", headers=known)
        head = await client.head(f"{house.url}{large}")
        (web / "large.wasm").write_bytes(LARGE_FILE[1:])
        changed = await client.get(f"{house.url}{large}", headers=known)
    assert (first.content == LARGE_FILE, first.headers["content-length"]) == (True, str(len(LARGE_FILE)))
    assert (again.status_code, again.content) == (304, b"")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(LARGE_FILE)))
    assert (changed.status_code, changed.content == LARGE_FILE[1:]) == (200, True)


@pytest.mark.slow
async def test_a_large_file_is_not_kept_for_those_who_read_it_slowly(house: House, large: str) -> None:
    tracemalloc.start()
    try:
        readers = [await house.connect() for _ in range(4)]
        for reader in readers:
            await reader.send_all(house.request(f"GET {large} HTTP/1.1"))
            await read_until(reader, b"\r\n\r\n")
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 2 * len(LARGE_FILE)
    for reader in readers:
        await trio.aclose_forcefully(reader)


async def test_a_client_that_goes_while_a_file_is_opened_leaves_none_open(
    web: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (web / "large.txt").write_bytes(bytes(PIECE + 1))
    file = find(web, "large.txt")
    assert file is not None
    body = file.response().response
    opened: list[Any] = []
    open_file = trio.open_file

    async def open_and_be_cancelled(path: Path, mode: Any) -> Any:
        opened.append(await open_file(path, mode))
        scope.cancel()
        return opened[0]

    monkeypatch.setattr(trio, "open_file", open_and_be_cancelled)
    with trio.CancelScope() as scope:
        async with body:
            pytest.fail("it was cancelled before")
    assert opened[0].closed
