"""A copy of the database as it is at one moment, made while it is being written to, by this process or another.

It is what the writer had committed when the copying began, so a prefix of every log. VACUUM INTO and not sqlite3's
`backup`: it is one reading transaction, and it leaves out free pages. Naming, syncing and replacing files is the
caller's business.
"""

import os
import sqlite3
from pathlib import Path

from actors.store.connection import connect, in_words


def copy_database(source: Path, draft: Path) -> None:
    """Write the copy to a file that is not there yet. Raises a StoreError; then the draft may be there in part."""
    try:
        connection = connect(source, readonly=True)
        try:
            connection.execute("VACUUM INTO CAST(? AS TEXT)", (os.fsencode(draft),))  # a name need not be UTF-8
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise in_words(error, "no copy was made") from error
