"""Ends the program on a signal, from its first moment to its last.

    while                             SIGINT (Ctrl-C), SIGTERM, SIGHUP
    there is nothing to tidy up       end the process at once and silently, by the system's default
    there is (`tidily`)               end the block with `Interrupted`
    a tree runs, or a visit           ask for an orderly stop (signals.py)

By default Python turns Ctrl-C into an exception wherever it happens to be: during an import this prints a page of
traceback, and in a callback it is lost. So we leave signals to the system until there is something to tidy up.

Modules that are loaded before `settle` is called are not covered. They are few, and should stay few.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]


class Interrupted(BaseException):
    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.code = code(number)


def code(number: int) -> int:
    """The exit code of a program that was ended by this signal, as shells have it."""
    return 128 + number


def settle() -> None:
    """Takes effect from here on, for the whole process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # otherwise it is ignored, as after nohup
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def tidily() -> Iterator[None]:
    def interrupt(number: int, _frame: object) -> None:
        raise Interrupted(number)

    heeded = [each for each in ENDING if signal.getsignal(each) is not signal.SIG_IGN]
    before = [signal.signal(each, interrupt) for each in heeded]
    try:
        yield
    finally:
        for each, handler in zip(heeded, before, strict=True):
            signal.signal(each, handler)
