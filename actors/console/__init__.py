"""The console: the living tree, shown. An observer samples it, each open page has a viewer, and the desk is where the
transport asks."""

from actors.console.desk import Desk, viewers_spec
from actors.console.observer import Observer
from actors.console.picture import Facts
from actors.console.systems import SystemFact

__all__ = ["Desk", "Facts", "Observer", "SystemFact", "viewers_spec"]
