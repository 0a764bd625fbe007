"""Being ended by a signal: what SIGINT (Ctrl-C), SIGTERM and SIGHUP mean, from the first moment to the last.

    while                              the first               a later one           where
    nothing is to be tidied up         ends the process        -                     settle
    something is to be tidied up       ends the block          -                     tidily
    a server is being made             ends the process        -                     leaving.Leaving
    a tree or a visit runs             asks for an end         ends it at once       signals.listen
    it is leaving                      is nothing              is nothing            leaving.Leaving

    ends the process       at once and without a word, as the system does it
    ends the block         with `EndedBySignal`, on which it tidies up
    asks for an end        an orderly one: a tree has its grace, a visitor finishes what it has begun
    ends it at once        somebody has run out of patience; what comes within a moment of the first is its echo
    is nothing             the process is ending already, and will be gone in time

What is ignored when we are started stays ignored: SIGHUP after `nohup`, SIGINT where a script has started us with `&`
(a Ctrl-C is then meant for what runs in front). But SIGTERM always ends a tree or a visit.

By default Python turns Ctrl-C into an exception wherever it happens to be: during an import this prints a page of
traceback, and in a callback it is lost. So we leave signals to the system until there is something to tidy up.

Modules that are loaded before `settle` is called are not covered. They are few, and should stay few.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]


def heeded() -> list[signal.Signals]:
    """Those of them that are not ignored."""
    return [each for each in ENDING if signal.getsignal(each) is not signal.SIG_IGN]


class EndedBySignal(BaseException):
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
        raise EndedBySignal(number)

    numbers = heeded()
    before = [signal.signal(each, interrupt) for each in numbers]
    try:
        yield
    finally:
        for each, handler in zip(numbers, before, strict=True):
            signal.signal(each, handler)
