"""A strike reaches all that is below, whichever group it is in, and never the one that strikes."""

import os
import signal
import subprocess
import sys

import pytest

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
            assert struck.wait(10) == -signal.SIGKILL
            assert struck.stdout.read() == b"", "what was below held the pipe too, and is gone"
        finally:
            for pid in (struck.pid, below):
                if struck.returncode is None:
                    os.kill(pid, signal.SIGKILL)
