"""A server that was killed leaves its announcement behind; nobody waits for it."""

import os
import subprocess
import sys

from program.ready import Announcement, is_gone


def test_a_server_that_has_ended_is_gone_and_one_that_lives_is_not() -> None:
    ended = subprocess.Popen([sys.executable, "-S", "-c", ""])
    ended.wait()
    assert is_gone(Announcement(ended.pid, {}))
    assert not is_gone(Announcement(os.getpid(), {}))
