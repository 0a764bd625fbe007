"""No descriptor is closed for which a task still waits.

The kernel gives its number to the next one that is opened. Then trio takes whoever waits for that one for a second task
at the closed one and refuses it (`trio.BusyResourceError`): a run of the Judge failed so once in thousands, for what
its launcher had closed. So a descriptor is closed when nobody waits for it any more, or that is announced
(`trio.lowlevel.notify_closing`).

A test in which it happens fails, also if nothing came of it; a server that a test has forked (`tests/house/forking.py`)
ends with its last word.
"""

import os
import sys
from collections.abc import Callable, Generator
from typing import Any

import pytest

_told: list[str] = []


def watch(tell: Callable[[str], object]) -> None:
    """From now on, in this process, where trio waits by epoll."""
    if sys.platform != "linux":
        return
    from trio._core._io_epoll import EpollIOManager

    manager: Any = EpollIOManager
    update, announce = manager._update_registrations, manager.notify_closing
    waited: dict[tuple[Any, int], tuple[Any, str]] = {}
    """By its manager and number: what a descriptor was when a task began to wait for it, and which task."""

    def updates(self: Any, number: int) -> None:
        waiters, found = self._registered[number], _meaning(number)
        tasks = [task.name for task in (waiters.read_task, waiters.write_task) if task is not None]
        meant, names = waited.pop((self, number), (found, ""))
        if meant != found:
            tell(f"{names} waited for descriptor {number}, which was closed meanwhile")
        if tasks:
            waited[self, number] = found, " and ".join(tasks)
        update(self, number)

    def announces(self: Any, closing: Any) -> None:
        waited.pop((self, closing if isinstance(closing, int) else closing.fileno()), None)
        announce(self, closing)

    manager._update_registrations, manager.notify_closing = updates, announces


def _meaning(number: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(number)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def end_loudly(word: str) -> None:
    os.write(2, f"{word}\n".encode())
    os._exit(70)


def pytest_configure() -> None:
    watch(_told.append)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    _told.clear()
    result = yield
    if _told:
        pytest.fail("\n".join(_told), pytrace=False)
    return result
