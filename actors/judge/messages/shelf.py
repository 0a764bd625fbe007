"""The messages to the shelf."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from actors.judge.messages.panel import PanelMessage
from actors.judge.places import TaskPlace
from actors.kernel import ActorRef, Reply
from codec.judge import Listed, RunSettings, Task


class PlaceFor(Struct, frozen=True):
    """Asks for a task's folder: always the same one for the same problem, and never another problem's."""

    task: Task
    reply: Reply[TaskPlace]


class Changed(Struct, frozen=True):
    """A problem is new, or was run, or the tests in its folder have changed. `arrived`: the number of the post, if it
    was just posted."""

    listed: Listed
    arrived: bool
    number: int = 0


class Vanished(Struct, frozen=True):
    """This problem's folder is missing."""

    id: str


class LookAround(Struct, frozen=True):
    """The user is back at a page. Which problems still have their folders?"""


class There(Struct, frozen=True):
    """For each of these problems, whether its folder exists."""

    folders: Mapping[str, bool]


class TakeOff(Struct, frozen=True):
    """A page takes this problem off the list. Its folder stays."""

    panel: ActorRef[PanelMessage]
    id: str


class PutBack(Struct, frozen=True):
    """A page wants a problem that is not in the list."""

    panel: ActorRef[PanelMessage]
    id: str


class Came(Struct, frozen=True):
    """A panel was opened. The shelf monitors it."""

    panel: ActorRef[PanelMessage]


class Looks(Struct, frozen=True):
    """A panel now shows this problem."""

    panel: ActorRef[PanelMessage]
    id: str


class ChangeSettings(Struct, frozen=True):
    panel: ActorRef[PanelMessage]
    changes: Mapping[str, Any]


class SettingsNow(Struct, frozen=True):
    reply: Reply[RunSettings]


class TellEverybody(Struct, frozen=True):
    """A problem that all panels should report."""

    sentence: str


class Publish(Struct, frozen=True):
    """It is time to send the list of problems to the panels."""


ShelfMessage = (
    PlaceFor | Changed | Vanished | LookAround | There | TakeOff | PutBack | Came | Looks | ChangeSettings
    | SettingsNow | TellEverybody | Publish
)  # fmt: skip
