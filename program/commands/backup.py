"""`troupe backup FILE`: makes a copy of the database that is complete, or does not exist.

The store does the copying (VACUUM INTO, safe while a server writes). This file takes care of the new file: it is made
in a folder of its own beside its final place, synchronised to the disk, and only then given its name.
"""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path

from program.ready import SERVER_FILE
from program.trouble import WENT_WRONG, Trouble


def back_up(database: Path, target: Path, *, copy: Callable[[Path, Path], object], force: bool = False) -> int:
    """Makes `target` a copy of `database` by `copy(from, to)`. Returns its size in bytes."""
    try:
        _refuse(database, target, force)
        workshop = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
        try:
            made = workshop / target.name
            copy(database, made)
            _synchronise(made)
            size = made.stat().st_size
            _give_name(made, target, force)
            _synchronise(target.parent)
        finally:
            shutil.rmtree(workshop, ignore_errors=True)
    except FileExistsError:
        raise _exists(target) from None
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise Trouble(f"The backup could not be made, and {target} is as it was: {reason}", code=WENT_WRONG) from None
    return size


def _refuse(database: Path, target: Path, force: bool) -> None:
    if not database.is_file():
        raise Trouble(f"There is no database at {database}; say where it is with --state-dir")
    if target.is_dir():
        raise Trouble(f"{target} is a folder; expected the name of the file to make, such as {target / 'troupe.db'}")
    if not target.parent.is_dir():
        raise Trouble(f"There is no folder {target.parent} to put the backup in; make it first")
    if target.exists() and target.samefile(database):
        raise Trouble(f"{target} is the database itself; expected another file")
    if target.name in _names_beside(database) and target.parent.samefile(database.parent):
        raise Trouble(f"{target} is a file of the server's own; expected another one")
    if target.exists() and not target.is_file():
        raise Trouble(f"{target} is a device, a pipe or a socket; expected the name of the file to make")
    if target.exists() and not force:
        raise _exists(target)


def _names_beside(database: Path) -> set[str]:
    """The names of the server's own files beside its database. A copy must not replace any of them."""
    beside = {f"{database.name}{tail}" for tail in ("-wal", "-shm", "-journal", "-mark")}
    return beside | {f"{database.stem}.lock", SERVER_FILE}


def _give_name(made: Path, target: Path, force: bool) -> None:
    made.chmod(0o600)
    if force:
        os.replace(made, target)
        return
    try:
        os.link(made, target)  # fails if the target has appeared meanwhile, while a rename would replace it
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if target.exists():
            raise FileExistsError from None
        os.replace(made, target)


def _synchronise(path: Path) -> None:
    if path.is_dir() and os.name == "nt":
        return  # Windows cannot open a folder, and keeps names by itself
    descriptor = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _exists(target: Path) -> Trouble:
    return Trouble(f"{target} exists already; name another file, or replace it with --force")
