"""The panels that are told about a problem: those that show it and, for a run, the one that asked for it."""

from actors.judge.messages.panel import PanelMessage, PassedOn, Shown, tell
from actors.kernel import ActorRef
from codec.judge import RunSettings


class Audience:
    def __init__(self) -> None:
        self.panels: set[ActorRef[PanelMessage]] = set()
        """The panels that show the problem."""
        self.settings: RunSettings | None = None
        """The settings as the panels know them. None: no panel has told them yet."""

    def tell(self, *messages: PassedOn, but: ActorRef[PanelMessage] | None = None) -> None:
        for panel in self.panels:
            if panel is not but:
                tell(panel, *messages)

    def show(self, shown: Shown, but: ActorRef[PanelMessage] | None = None) -> None:
        for panel in self.panels:
            if panel is not but:
                tell(panel, shown)

    def tell_of_run(self, asker: ActorRef[PanelMessage] | None, *messages: PassedOn) -> None:
        """Tells the panels, and the asker even if it shows another problem by now."""
        self.tell(*messages)
        if asker is not None and asker not in self.panels:
            tell(asker, *messages)
