"""The console shows the live tree. An observer samples the tree, each open page has a viewer, and the desk answers the
transport."""

from actors.console.desk import Desk, viewers_spec
from actors.console.observer import Observer
from actors.console.picture import Facts
from actors.console.systems import SystemFact

__all__ = ["Desk", "Facts", "Observer", "SystemFact", "viewers_spec"]
