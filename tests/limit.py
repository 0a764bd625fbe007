"""What happens to a test that does not end: it fails, alone, and says what everything in it was waiting for.

pytest-timeout knows how long a test may take (`timeout` in pyproject.toml, and its marker); what is done then is ours.
Its own ways are to raise from a signal handler, which breaks trio's loop and playwright's wherever the signal finds
them, and to end the process, with all that the other tests of its worker share. So it goes by steps:

    when the time is up     the stacks of all tasks, threads and greenlets are kept for the report, and
      in a trio run         its main task is cancelled, so nurseries and fixtures tidy up
      anywhere else         `Overdue` is raised where the test stands
    each GRACE after that   `Overdue` is raised where the test stands, or in the task that does not let others run;
                            if none does, shields against cancelling are broken
    LAST after that         the process ends with the stacks on standard error: it hangs where Python cannot reach it
                            (xdist says whose worker that was, and starts another)

Tearing down has the whole time once more. Tests that fetch something from outside (`larder`) have FETCHING seconds.
`Overdue` is no `Exception`, and not pytest's own: no code under test catches it, and hypothesis does not take it for an
example that is to be made smaller.
"""

import asyncio
import faulthandler
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Generator, Iterator
from types import FrameType, TracebackType
from typing import Any

import greenlet
import pytest
import pytest_timeout
import trio

GRACE = 5.0
LAST = 30.0
FETCHING = 300.0
MOST_TASKS = 100
INNERMOST = 12
"""Frames of each that are shown; what is around them is mostly the same for all."""
TRIOS_OWN = ("<init>", "<TrioToken.run_sync_soon task>")
BESIDE_THE_POINT = re.compile(r"/site-packages/(_pytest|pluggy|xdist|execnet|pytest_trio|trio|outcome|playwright)/")

_WATCH = pytest.StashKey["Watch"]()
_STDERR = pytest.StashKey[int]()


class Overdue(BaseException):
    """Raised in the test that has taken too long."""


class Watch:
    def __init__(self, item: pytest.Item, seconds: float) -> None:
        self._item = item
        self._seconds = seconds
        self._when = "setup"
        self._armed = False
        self.struck = False

    @property
    def sentence(self) -> str:
        return f"{self._item.nodeid} was not over after {self._seconds:g} s (marker: timeout); the stacks are below"

    def begin(self, when: str) -> None:
        """Of a phase. The time runs on, unless that of the phase before is up or was stopped."""
        self._when, self.struck = when, False
        if not self._armed:
            self.arm()

    def arm(self) -> None:
        self._armed = True
        signal.signal(signal.SIGALRM, self._strike)
        signal.setitimer(signal.ITIMER_REAL, self._seconds, GRACE)
        last = self._seconds + LAST
        faulthandler.dump_traceback_later(last, exit=True, file=self._item.config.stash[_STDERR])

    def disarm(self) -> None:
        self._armed = False
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def _strike(self, _number: int, frame: FrameType | None) -> None:
        if pytest_timeout.is_debugging():
            self.disarm()
            return
        first, self.struck = not self.struck, True
        if first:
            self._item.add_report_section(self._when, "everything at work", "\n".join(stacks(frame)))
        token = _loop_here()
        if token is None or (not first and _in_a_task()):
            _raise_in_test(Overdue(self.sentence))
        else:  # never in the loop itself: it would not be able to tidy up after itself
            token.run_sync_soon(_cancel_main if first else _break_shields)


def _loop_here() -> trio.lowlevel.TrioToken | None:
    try:
        return trio.lowlevel.current_trio_token()
    except RuntimeError:
        return None


def _in_a_task() -> bool:
    try:
        trio.lowlevel.current_task()
    except RuntimeError:
        return False
    return True


def _cancel_main() -> None:
    init = trio.lowlevel.current_root_task()
    assert init is not None
    init.child_nurseries[-1].cancel_scope.cancel("the test takes too long")


def _break_shields() -> None:
    for task in _below(trio.lowlevel.current_root_task()):
        status: Any = task._cancel_status  # trio 0.35 has no public way from a task to the scopes around it
        while status is not None:
            status._scope.shield = False
            status = status._parent


def _raise_in_test(overdue: Overdue) -> None:
    """Playwright's loop runs in a greenlet of its own, and mostly waits for its sockets when it is found here. It is
    held until the test turns to it again, and then woken: what the test wants of it now, it has not heard of."""
    here = test = greenlet.getcurrent()
    while test.parent is not None:
        test = test.parent
    if test is here:
        raise overdue
    test.throw(overdue)
    asyncio.get_running_loop().call_soon_threadsafe(lambda: None)


# -- what everything is at


def stacks(here: FrameType | None) -> Iterator[str]:
    names = {each.ident: each.name for each in threading.enumerate()}
    main = threading.main_thread().ident
    for ident, frame in sys._current_frames().items():
        yield f"thread {names.get(ident, ident)}"
        yield from _told(traceback.walk_stack(here if ident == main else frame), outermost_first=False)
    around = greenlet.getcurrent().parent
    while around is not None:
        if around.gr_frame is not None:
            yield "what waits for it, in a greenlet"
            yield from _told(traceback.walk_stack(around.gr_frame), outermost_first=False)
        around = around.parent
    if _loop_here() is not None:
        yield from _tasks()


def _tasks() -> Iterator[str]:
    known = [each for each in _below(trio.lowlevel.current_root_task()) if each.name not in TRIOS_OWN]
    for task in known[:MOST_TASKS]:
        yield f"task {task.name}"
        yield from _told(task.iter_await_frames())
    if len(known) > MOST_TASKS:
        yield f"and {len(known) - MOST_TASKS} more"


def _told(frames: Iterator[tuple[FrameType, int]], *, outermost_first: bool = True) -> Iterator[str]:
    told = [each for each in traceback.StackSummary.extract(frames) if not BESIDE_THE_POINT.search(each.filename)]
    if not outermost_first:
        told.reverse()
    yield from (each.rstrip() for each in traceback.format_list(told[-INNERMOST:]))


def _below(task: trio.lowlevel.Task | None) -> Iterator[trio.lowlevel.Task]:
    if task is not None:
        yield task
        for nursery in task.child_nurseries:
            for child in nursery.child_tasks:
                yield from _below(child)


# -- as pytest calls it


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_STDERR] = os.dup(2)  # pytest will put a file in the place of 2


def pytest_unconfigure(config: pytest.Config) -> None:
    os.close(config.stash[_STDERR])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "larder" in getattr(item, "fixturenames", ()) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(FETCHING))


def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool:
    item.stash[_WATCH] = watch = Watch(item, settings.timeout)
    watch.arm()
    return True


def pytest_timeout_cancel_timer(item: pytest.Item) -> bool:
    """Called at the end, and when a phase has failed: whoever looks at it in a debugger has time."""
    if (watch := item.stash.get(_WATCH, None)) is not None:
        watch.disarm()
    return True


def _limited(item: pytest.Item, when: str) -> Generator[None, object, object]:
    watch = item.stash.get(_WATCH, None)
    if watch is None:
        return (yield)
    watch.begin(when)
    try:
        result = yield
    except (KeyboardInterrupt, pytest.exit.Exception):
        raise
    except BaseException as error:
        if watch.struck:
            _give_lines(error)
            raise pytest.fail.Exception(watch.sentence) from error
        raise
    finally:
        if watch.struck:
            watch.disarm()
    if watch.struck:
        pytest.fail(watch.sentence)
    return result


def _give_lines(error: BaseException | None) -> None:
    """A signal may find Python at an instruction that belongs to no line. pytest 9.2 cannot report that: the whole run
    would end with an internal error."""
    while error is not None:
        steps = []
        trace = error.__traceback__
        while trace is not None:
            steps.append(trace)
            trace = trace.tb_next
        for step in reversed(steps):
            line: int | None = step.tb_lineno
            known = step.tb_frame.f_code.co_firstlineno if line is None else line
            trace = TracebackType(trace, step.tb_frame, step.tb_lasti, known)
        error.__traceback__ = trace
        error = error.__cause__ or error.__context__


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    return (yield from _limited(item, "setup"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    return (yield from _limited(item, "call"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    return (yield from _limited(item, "teardown"))
