"""A monitor: a watch over a slot, and the notice of its end.

A cancelled monitor is silent, even if its notice was on its way. Until it is cancelled, or its final notice is taken,
two objects refer to it. The watched slot does so in order to send the notice. The holder (the watcher's incarnation, or
the watcher's slot) does so in order to cancel it at its own end, so a watcher that comes and goes leaves nothing
behind.
"""

from typing import TYPE_CHECKING

from actors.kernel.mailbox import Signal
from actors.kernel.stop import Down

if TYPE_CHECKING:
    from actors.kernel.slot import Slot


class Monitor:
    __slots__ = ("_holder", "active", "every", "watched", "watcher")

    def __init__(self, watched: "Slot", watcher: "Slot", holder: "dict[Monitor, None]", every: bool) -> None:
        self.watched = watched
        self.watcher = watcher
        self.every = every
        self.active = True
        self._holder = holder
        holder[self] = None

    def cancel(self) -> None:
        self.active = False
        self.watched.drop_monitor(self)
        self._holder.pop(self, None)

    def notify(self, down: Down) -> None:
        self.watcher.box.put_system(DownNotice(self, down))

    def take(self, down: Down) -> bool:
        """The notice has arrived. True if it is still wanted."""
        if not self.active:
            return False
        if down.final:
            self._holder.pop(self, None)
        return True


class DownNotice(Signal):
    """A Down on its way to a handler."""

    __slots__ = ("down", "monitor")

    def __init__(self, monitor: Monitor, down: Down) -> None:
        self.monitor = monitor
        self.down = down
