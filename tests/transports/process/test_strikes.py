"""A strike reaches all that is below, whichever group it is in, and never the one that strikes."""

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from tests.patience import PATIENCE
from transports.process.launcher import census
from transports.process.launcher.striking import strike

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")]
BELOW = "import subprocess, sys; p = subprocess.Popen(['sleep', '600']); print(p.pid, flush=True); p.wait()"


@pytest.mark.parametrize("own_group", [True, False])
def test_who_stayed_in_our_group_dies_and_we_do_not(own_group: bool) -> None:
    struck = subprocess.Popen(
        [sys.executable, "-c", BELOW], stdout=subprocess.PIPE, process_group=None if own_group else 0
    )
    assert struck.stdout is not None
    with struck, struck.stdout:
        below = int(struck.stdout.readline())
        assert (os.getpgid(below) == os.getpgrp()) is own_group
        strike([struck.pid])
        try:
            assert struck.wait(PATIENCE) == -signal.SIGKILL
            assert struck.stdout.read() == b"", "what was below held the pipe too, and is gone"
        finally:
            for pid in (struck.pid, below):
                if struck.returncode is None:
                    os.kill(pid, signal.SIGKILL)


SLEEPS = "sleep 600 & echo begun; sleep 600"


def test_who_was_not_seen_dies_with_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have been forked since anybody looked."""
    struck = subprocess.Popen(["/bin/sh", "-c", SLEEPS], stdout=subprocess.PIPE, process_group=0)
    assert struck.stdout is not None
    with struck, struck.stdout:
        assert struck.stdout.readline() == b"begun\n"
        seen = census.member_of(struck.pid)
        monkeypatch.setattr(census, "family", lambda roots: [seen])
        strike([struck.pid])
        assert struck.wait(PATIENCE) == -signal.SIGKILL
        try:
            assert select.select([struck.stdout], [], [], 10)[0]
            assert struck.stdout.read() == b"", "what was not seen held the pipe too, and is gone"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(struck.pid, signal.SIGKILL)


def test_of_a_process_that_has_ended_and_one_that_may_not_be_struck_nobody_hears(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = subprocess.Popen(["/bin/true"], process_group=0)
    gone.wait()
    seen = census.member_of(os.getpid())
    assert seen is not None
    seen.pid = seen.group = gone.pid
    monkeypatch.setattr(census, "family", lambda roots: [seen])
    strike([gone.pid])

    def refused(*_: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refused)
    monkeypatch.setattr(os, "killpg", refused)
    strike([gone.pid])
