"""Copies the database as it is at one moment, even while this process or another writes to it.

The copy holds everything that was committed when the copying began, and so a prefix of every log. We use VACUUM INTO
and not sqlite3's `backup`, because it is a single reading transaction and leaves out free pages. The caller names,
syncs and replaces files, and reports errors. A failed copy loses nothing.
"""

import os
from contextlib import closing
from pathlib import Path

from actors.store.connection import connect


def copy_database(source: Path, draft: Path) -> None:
    """Writes the copy to a file that does not exist yet. After a sqlite3.Error a part of the draft may exist."""
    with closing(connect(source, readonly=True)) as connection:
        connection.execute("VACUUM INTO CAST(? AS TEXT)", (os.fsencode(draft),))  # a name need not be UTF-8
