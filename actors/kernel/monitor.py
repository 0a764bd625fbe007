"""A watch over a slot, and the notice of its end. A monitor that was cancelled is silent, even if its notice was on its
way."""

from typing import TYPE_CHECKING

from actors.kernel.stop import Down

if TYPE_CHECKING:
    from actors.kernel.slot import Slot


class Monitor:
    __slots__ = ("active", "every", "watched", "watcher")

    def __init__(self, watched: "Slot", watcher: "Slot", every: bool) -> None:
        self.watched = watched
        self.watcher = watcher
        self.every = every
        self.active = True

    def cancel(self) -> None:
        self.active = False
        self.watched.drop_monitor(self)

    def notify(self, down: Down) -> None:
        self.watcher.box.put_system(Notice(self, down))


class Notice:
    """A Down on its way to a handler."""

    __slots__ = ("down", "monitor")

    def __init__(self, monitor: Monitor, down: Down) -> None:
        self.monitor = monitor
        self.down = down
