"""The states of a workspace's index.

    opening    what is kept of it is being read            updates wait; questions are answered
    kept       it is as it was kept: nobody has compared   the first use begins an update
               it with the disk since
    updating   an update runs                              what changes meanwhile is gathered
    current    it is as the disk, as far as anybody knows  what changes begins an update
    troubled   it cannot be read or written, or its        it is opened again after a while, and when it is asked for
               folder is not there
"""

import enum

from actors.kernel import Table


class IndexerState(enum.Enum):
    OPENING = "opening"
    KEPT = "kept"
    UPDATING = "updating"
    CURRENT = "current"
    TROUBLED = "troubled"


class IndexerEvent(enum.Enum):
    OPENED = "opened"
    BEGIN = "begin"
    DONE = "done"
    BREAK_OFF = "break off"
    FAIL = "fail"
    AGAIN = "again"


OPENING, KEPT, UPDATING, CURRENT, TROUBLED = IndexerState

MOVES = Table(
    "an index",
    {
        IndexerEvent.OPENED: {OPENING: KEPT},
        IndexerEvent.BEGIN: {KEPT: UPDATING, CURRENT: UPDATING},
        IndexerEvent.DONE: {UPDATING: CURRENT},
        IndexerEvent.BREAK_OFF: {UPDATING: KEPT},
        IndexerEvent.FAIL: {OPENING: TROUBLED, UPDATING: TROUBLED},
        IndexerEvent.AGAIN: {TROUBLED: OPENING},
    },
)
