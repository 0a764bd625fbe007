"""Being ended by a signal, from the first moment to the last.

    while                             SIGINT (Ctrl-C), SIGTERM, SIGHUP
    nothing is to be tidied up        end the process at once and without a word, as the system does it
    something is (`tidily`)           end the block with `Interrupted`
    a tree runs, or a visit           ask for an orderly stop (signals.py)

Python's own way with Ctrl-C is an exception wherever it happens to be: in the middle of an import it is a page of
traceback, in a callback it is lost. So it is left to the system, until there is something to tidy up.

What is loaded before `settle` is called is not covered; it is little, and shall stay so.
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
    """From here on, for the whole process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # and is not ignored, as after nohup
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
