"""Who is told what happens to a problem: the panels that look, and of a run the one that asked for it."""

from actors.judge.messages.panel import PanelMessage, PassedOn, tell
from actors.kernel import ActorRef
from codec.judge import RunSettings


class Audience:
    def __init__(self) -> None:
        self.panels: set[ActorRef[PanelMessage]] = set()
        """Those that look."""
        self.settings: RunSettings | None = None
        """As they know them. None: nobody has said."""

    def tell(self, *messages: PassedOn, but: ActorRef[PanelMessage] | None = None) -> None:
        for panel in self.panels:
            if panel is not but:
                tell(panel, *messages)

    def tell_of_run(self, asker: ActorRef[PanelMessage] | None, *messages: PassedOn) -> None:
        """The asker too, whatever that shows by now."""
        self.tell(*messages)
        if asker is not None and asker not in self.panels:
            tell(asker, *messages)
