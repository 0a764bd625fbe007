"""Stops in order when a signal asks for it.

The table of ending.py says what each signal means, now and at other times. The same request often comes twice at once -
a terminal sends Ctrl-C to a whole process group, and a wrapper passes its own on - so a signal that comes within `ECHO`
seconds of the first is taken for its echo.
"""

import signal
from collections.abc import Callable

import trio

from program.ending import ENDING

ECHO = 0.5


async def listen(
    stop: Callable[[signal.Signals], None],
    kill: Callable[[signal.Signals], None],
    *,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Calls `stop` once, with the first signal, and `kill` once, with the first later one that is not an echo.

    Runs in the main thread until `kill` was called or it is cancelled. Start it with `nursery.start`.
    """
    heeded = [each for each in ENDING if signal.getsignal(each) is not signal.SIG_IGN or each == signal.SIGTERM]
    with trio.open_signal_receiver(*heeded) as arriving:
        task_status.started()
        first_at: float | None = None
        async for each in arriving:
            if first_at is None:
                first_at = trio.current_time()
                stop(signal.Signals(each))
            elif trio.current_time() - first_at >= ECHO:
                kill(signal.Signals(each))
                return
