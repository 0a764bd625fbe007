"""Whoever's test fails beside a server is told how that server was, and what it said last."""

from pathlib import Path

import pytest

from tests.house.running import LAST_WORDS, server

pytestmark = pytest.mark.slow

READY = """
import os, socket, sys, time
print("too early " * 1000, "the last words", flush=True)
notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notices.sendto(b"READY=1", "\\0" + os.environ["NOTIFY_SOCKET"][1:])
"""
ENDS = {"time.sleep(60)": "was running", "sys.exit(3)": "had ended with 3"}


@pytest.mark.parametrize("end", ENDS)
def test_a_failure_beside_a_server_tells_how_it_was_and_its_last_words(end: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(READY + end)
    with pytest.raises(LookupError) as caught, server(tmp_path, program=program) as house:  # noqa: PT012
        house.ready()
        if "exit" in end:
            house.process.wait(30)
        raise LookupError
    (note,) = caught.value.__notes__
    assert note.startswith(f"The server {ENDS[end]}.")
    assert note.endswith("the last words\n")
    assert len(note) < LAST_WORDS + 100
    assert house.process.poll() is not None
