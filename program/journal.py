"""Writes the kernel's events to the log: failures, pauses, dead letters. Ordinary ends, peers that leave, and messages
that still wait in a mailbox when the server is stopped, are logged at debug level only."""

import structlog

from actors.kernel import AnyRef, DeadLetter, Ended


class Journal:
    """A tracer. It logs the type of a dead letter, never the content."""

    def __init__(self) -> None:
        self._log = structlog.get_logger("tree").bind()  # an unbound one would be made anew for each event

    def __call__(self, kind: str, ref: AnyRef, detail: object, at: float) -> None:
        match detail:
            case Ended(stop, message, restarts) if stop.why.failed:
                self._log.error(
                    "an actor failed",
                    actor=ref.path,
                    why=stop.why.value,
                    on=message,
                    restarts=restarts,
                    exc_info=stop.error,
                )
            case Ended(stop):
                self._log.debug("an actor ended", actor=ref.path, why=stop.why.value)
            case DeadLetter(untaken=False):  # of what is not taken the kernel tells, once
                tell = self._log.debug if detail.at_the_end else self._log.warning
                tell("a message reached nobody", actor=ref.path, message=detail.message, why=detail.why)
            case float() if kind == "pause":
                self._log.error("an actor failed too often and is paused", actor=ref.path, seconds=round(detail))
            case _ if kind == "spawn":
                self._log.debug("an actor starts", actor=ref.path, restart=detail)
