"""The browser side of Troupe, served from a folder.

Rules
  - A path is never joined to the folder: it is walked name by name, and a name that starts with a dot, holds a
    separator, or leads through a link out of the folder does not exist.
  - The types are ours, not the machine's: a registry that calls `.js` text would stop every module.
  - `no-cache` with an ETag: the browser asks each time, and mostly hears 304. An edited file shows at once.
  - A large file (Pyodide has files of 10 MB) is read while it is sent. Otherwise each slow client would keep a whole
    copy in memory.
"""

import hashlib
import re
from collections.abc import Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Self

import trio
from msgspec import Struct
from quart import Quart, Response, request
from quart_trio.wrappers.response import TrioFileBody

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".wasm": "application/wasm",
}
"""Other types of files are not served, unless a folder has its own list."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
DEEPEST = 16

PIECE = 256 * 1024
"""A larger file is read in pieces of this size."""


class StaticFile(Struct, frozen=True):
    content: bytes | Path
    """The content, or the path of a large file."""
    content_type: str
    etag: str

    def response(self) -> Response:
        if isinstance(self.content, bytes):
            return Response(self.content, content_type=self.content_type)
        body = _Pieces(self.content, buffer_size=PIECE)
        response = Response(body, content_type=self.content_type)
        response.content_length = body.size
        return response


class _Pieces(TrioFileBody):
    async def __aenter__(self) -> Self:
        """As it is done there, but a client that goes just now leaves no file open behind it."""
        self.file = await trio.open_file(self.file_path, mode="rb")
        try:
            await self.file.seek(self.begin)
        except BaseException:
            await self.file.aclose()
            raise
        return self


def find(root: Traversable, path: str, types: Mapping[str, str] = TYPES) -> StaticFile | None:
    """The file at this path below the root; None if there is none that may be served. Reads from the disk."""
    names = path.split("/")
    if len(names) > DEEPEST or not all(map(_NAME.fullmatch, names)):
        return None
    content_type = types.get(Path(names[-1]).suffix)
    place = root
    for name in names:
        place = place / name
    if content_type is None or not place.is_file() or not _inside(root, place):
        return None
    if isinstance(place, Path) and place.stat().st_size > PIECE:
        with place.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
        return StaticFile(place, content_type, digest.hexdigest()[:32])
    content = place.read_bytes()
    return StaticFile(content, content_type, hashlib.sha256(content).hexdigest()[:32])


def serve_files(
    app: Quart, root: Traversable, *, index: str = "index.html", at: str = "/", types: Mapping[str, str] = TYPES
) -> None:
    """Answer GET and HEAD below `at` (it ends in a slash) with the files below `root`; `at` itself with the index."""

    async def respond(path: str = index) -> Response:
        file = await trio.to_thread.run_sync(find, root, path, types, abandon_on_cancel=True)
        if file is None:
            return Response(f"There is no page {request.path!r} here.\n", 404, content_type=TYPES[".txt"])
        response = file.response()
        response.headers["cache-control"] = "no-cache"
        response.set_etag(file.etag)
        return await response.make_conditional(request)

    app.add_url_rule(at, f"files {at}", respond)
    app.add_url_rule(f"{at}<path:path>", f"files below {at}", respond)


def _inside(root: Traversable, place: Traversable) -> bool:
    """Resolve links, where there can be any (a zip has none)."""
    if not (isinstance(root, Path) and isinstance(place, Path)):
        return True
    return place.resolve().is_relative_to(root.resolve())
