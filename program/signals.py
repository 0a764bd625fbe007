"""Ending when asked to, and without a traceback.

The first SIGTERM, SIGINT (Ctrl-C) or SIGHUP asks for an orderly stop. A later one means that somebody has run out of
patience. The same request often comes twice at once - a terminal sends Ctrl-C to a whole process group, and a wrapper
passes its own on - so what comes within `ECHO` seconds of the first is taken for its echo.
"""

import signal
from collections.abc import Callable

import trio

ECHO = 0.5
INTERRUPTED = 130
"""The exit code of a program that Ctrl-C ended, as shells have it."""

_ASKING = [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]


async def listen(
    stop: Callable[[str], None],
    kill: Callable[[str], None],
    *,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Call `stop` once, with the name of the first signal, and `kill` once, with that of the one that lost patience.

    Runs in the main thread until `kill` was called or it is cancelled. Start it with `nursery.start`: from then on no
    Ctrl-C raises anything.
    """
    # Who started us with nohup has SIGHUP ignored, and means it.
    heeded = [each for each in _ASKING if signal.getsignal(each) is not signal.SIG_IGN or each != _HANGUP]
    with trio.open_signal_receiver(*heeded) as arriving:
        task_status.started()
        first_at: float | None = None
        async for each in arriving:
            if first_at is None:
                first_at = trio.current_time()
                stop(signal.Signals(each).name)
            elif trio.current_time() - first_at >= ECHO:
                kill(signal.Signals(each).name)
                return


_HANGUP = getattr(signal, "SIGHUP", None)


def quietly(main: Callable[[], int]) -> int:
    """The exit code of `main`; a Ctrl-C where nobody listens yet, or any more, is an exit code too."""
    code = INTERRUPTED
    try:
        code = main()
    except* KeyboardInterrupt:  # alone, or in the group that a nursery made of it
        pass
    return code
