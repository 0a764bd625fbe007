"""Seldom: when another look at all names of the folder is due.

It costs time in a folder of a hundred thousand. So while the kernel tells of each change and has lost none, SHARE times
as long as the last look took passes before the next one.
"""

import trio

from actors.ipc.given import BaseHealth

SHARE = 300.0


class SeldomLooks:
    def __init__(self) -> None:
        self._overflows = -1
        """Events the kernel had lost at the last look; -1: any of them may be."""
        self._ended = self._took = 0.0

    def reopened(self) -> None:
        """The folder may be another one."""
        self._overflows = -1

    def is_due(self, health: BaseHealth) -> bool:
        is_sure = health.watched and health.overflows == self._overflows
        return not is_sure or trio.current_time() - self._ended >= SHARE * self._took

    def looked(self, health: BaseHealth, began: float) -> None:
        """`health`: as it was when the look began."""
        self._overflows = health.overflows
        self._ended = trio.current_time()
        self._took = self._ended - began
