"""A copy of the database as it is at one moment, made while it is being written to, by this process or another.

It is what the writer had committed when the copying began, so a prefix of every log. VACUUM INTO and not sqlite3's
`backup`: it is one reading transaction, and it leaves out free pages. Naming, syncing and replacing files is the
caller's business, and so is saying in words what went wrong: nobody has lost anything by it.
"""

import os
from contextlib import closing
from pathlib import Path

from actors.store.connection import connect


def copy_database(source: Path, draft: Path) -> None:
    """Write the copy to a file that is not there yet. Raises sqlite3.Error; then the draft may be there in part."""
    with closing(connect(source, readonly=True)) as connection:
        connection.execute("VACUUM INTO CAST(? AS TEXT)", (os.fsencode(draft),))  # a name need not be UTF-8
