"""The playground: a page that runs a script in the reader's browser, in Pyodide, with the board beside it.

GET /script            an empty script         GET /scripts           what can be run here, as JSON
GET /script/ID         the script ID           GET /scripts/ID.py     its text
GET /script/worker.js  where it runs           GET /pyodide/...       Pyodide, if it is in a local folder

Rules
  - Troupe contains no part of Pyodide. It comes from the configured folder or address, and the page says what is
    missing.
  - Page and worker are isolated from all other origins (COOP, COEP). Only then do browsers give them the shared memory
    by which a busy script is told to stop.
  - Only the worker may compile WebAssembly, and it may fetch only from here and from the configured address. A worker
    obeys the policy that is served with it, so no page's policy has to be widened.
"""

import json
import os
import re
from collections.abc import Iterator
from importlib.resources.abc import Traversable
from itertools import islice
from pathlib import Path
from typing import Any

import trio
from msgspec import Struct
from quart import Response

from transports.http.application import Application
from transports.http.static import TYPES, find, serve_files

TEXT = TYPES[".txt"]
BINARY = "application/octet-stream"
PYODIDE_TYPES = {
    **TYPES,
    ".mjs": TYPES[".js"],
    ".map": TYPES[".json"],
    **dict.fromkeys((".whl", ".zip", ".tar", ".tgz", ".gz", ".data", ".so"), BINARY),
}
SCRIPT_TYPES = {".py": TEXT, ".whl": BINARY}

ISOLATED = {"cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp"}

MOST_SCRIPTS = 200
MOST_LOOKED_AT = 5_000
DEEPEST = 4
"""Limits of the list: the scripts in it, the entries that are looked at, and the depth. Others can still be named."""

_WHEEL = re.compile(r"sidekick_py-(\d{1,6}(?:\.\d{1,6})*)-py3-none-any\.whl")
_UNSET = (
    "Pyodide is not configured. Get it (npm's package pyodide, or a release of it, unpacked), and under [sidekick] set "
    "pyodide to the absolute path of that folder, or to an address that begins with https://."
)
_WHEEL_WANTED = "import sidekick will not work here: there is no sidekick_py-*.whl in {}. {}"
_WHEEL_MADE = "To make it: pip wheel --no-deps sidekick-py==0.0.7"


class Playground(Struct, frozen=True):
    """The configured places: absolute folders, or for Pyodide also an address; "" if there is none."""

    pyodide: str = ""
    scripts: str = ""

    @property
    def address(self) -> str:
        """Where a browser finds Pyodide."""
        is_folder = not self.pyodide.startswith("https://")
        return "/pyodide/" if is_folder else f"{self.pyodide.rstrip('/')}/"

    @property
    def pyodide_folder(self) -> Path | None:
        return Path(self.pyodide) if self.pyodide and self.address == "/pyodide/" else None

    @property
    def scripts_folder(self) -> Path | None:
        return Path(self.scripts) if self.scripts else None

    def policy(self) -> str:
        """The worker's own. `wasm-unsafe-eval` compiles WebAssembly and no more."""
        elsewhere = "" if self.address == "/pyodide/" else f" {self.address}"
        return f"default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{elsewhere}; connect-src 'self'{elsewhere}"


def playing(playground: Playground) -> dict[str, Any]:
    """The scripts that can be run, and texts about anything that is wrong. Reads from the disk."""
    trouble = _trouble(playground)
    wheel, warnings = None, []
    if trouble is None:
        wheel = _newest_wheel(playground)
        if wheel is None:
            folders = [str(one) for one in (playground.pyodide_folder, playground.scripts_folder) if one is not None]
            where = " or ".join(folders) or "a folder of ours (sidekick.scripts names none)"
            warnings.append(_WHEEL_WANTED.format(where, _WHEEL_MADE))
    scripts: list[str] = []
    folder = playground.scripts_folder
    if folder is not None:
        if folder.is_dir():
            scripts = sorted(islice(_scripts(folder), MOST_SCRIPTS))
        else:
            warnings.append(f"sidekick.scripts names {folder}, and there is no such folder.")
    return {
        "address": None if trouble else playground.address,
        "wheel": wheel,
        "trouble": trouble,
        "warnings": warnings,
        "scripts": scripts,
    }


def add_playground(app: Application, web: Traversable, playground: Playground) -> None:
    """Adds the pages. `app` already sends a policy with all pages; these are isolated as well."""
    if (folder := playground.pyodide_folder) is not None:
        serve_files(app, folder, index="none", at="/pyodide/", types=PYODIDE_TYPES)
    if (folder := playground.scripts_folder) is not None:
        serve_files(app, folder, index="none", at="/scripts/", types=SCRIPT_TYPES)

    @app.get("/scripts")
    async def scripts() -> Response:
        found = await trio.to_thread.run_sync(playing, playground, abandon_on_cancel=True)
        return Response(json.dumps(found), content_type=TYPES[".json"], headers={"cache-control": "no-cache"})

    @app.get("/script/worker.js")
    async def worker() -> Response:
        if not playground.pyodide:
            return Response(f"{_UNSET}\n", 404, content_type=TEXT)
        lines = [
            f"import {{ loadPyodide }} from {json.dumps(playground.address + 'pyodide.mjs')};",
            'import { attend } from "/web/script/worker.js";',
            "attend(loadPyodide);",
        ]
        headers = {"content-security-policy": playground.policy(), "cache-control": "no-cache", **ISOLATED}
        return Response("\n".join(lines) + "\n", content_type=TYPES[".js"], headers=headers)

    @app.get("/script", strict_slashes=False)
    async def script() -> Response:
        page = await trio.to_thread.run_sync(find, web, "script/index.html", abandon_on_cancel=True)
        assert page is not None
        response = page.response()
        response.headers.update({"cache-control": "no-cache", **ISOLATED})
        return response

    @app.get("/script/<path:name>")
    async def named(name: str) -> Response:
        folder = playground.scripts_folder
        if folder is None:
            sentence = "No folder of scripts is configured: under [sidekick], set scripts to its absolute path."
            return Response(f"{sentence}\n", 404, content_type=TEXT)
        path = f"{name.removesuffix('.py')}.py"
        if await trio.to_thread.run_sync(find, folder, path, SCRIPT_TYPES, abandon_on_cancel=True) is None:
            sentence = f"There is no script {path!r} in the folder that sidekick.scripts names."
            return Response(f"{sentence}\n", 404, content_type=TEXT)
        return await script()


def _trouble(playground: Playground) -> str | None:
    """The reason why no script can be run; None if there is none that we can see from here."""
    if not playground.pyodide:
        return _UNSET
    folder = playground.pyodide_folder
    if folder is None or find(folder, "pyodide.mjs", PYODIDE_TYPES) is not None:
        return None
    what = "there is no pyodide.mjs in it: is it Pyodide, unpacked?" if folder.is_dir() else "there is no such folder."
    return f"sidekick.pyodide names {folder}, and {what}"


def _newest_wheel(playground: Playground) -> str | None:
    """Where a browser finds the newest sidekick client that is in one of our folders."""
    found: list[tuple[tuple[int, ...], str]] = []
    for at, folder in (("/scripts/", playground.scripts_folder), ("/pyodide/", playground.pyodide_folder)):
        if folder is None or not folder.is_dir():
            continue
        names = (entry.name for entry in islice(folder.iterdir(), MOST_LOOKED_AT))
        wheels = filter(None, map(_WHEEL.fullmatch, names))
        found += [(tuple(map(int, wheel[1].split("."))), at + wheel[0]) for wheel in wheels]
    return max(found)[1] if found else None


def _scripts(root: Path) -> Iterator[str]:
    """The ids of the scripts in a folder and the folders in it, as far as they can be served."""
    left = MOST_LOOKED_AT
    for place, folders, files in os.walk(root):
        within = Path(place).relative_to(root)
        folders[:] = sorted(one for one in folders if not one.startswith(".")) if len(within.parts) < DEEPEST else []
        for name in sorted(files)[:left]:
            path = (within / name).as_posix()
            if name.endswith(".py") and find(root, path, SCRIPT_TYPES) is not None:
                yield path.removesuffix(".py")
        left -= len(files) + len(folders)
        if left <= 0:
            return
