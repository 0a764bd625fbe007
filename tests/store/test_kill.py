"""`kill -9` at any moment is a normal way to stop."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from actors.store.connection import connect
from actors.store.directory import StateDirectory
from actors.store.operations import Get, Keys, Read
from actors.store.reader import Reader
from tests.patience import PATIENCE
from tests.store.appender import STREAMS

KILLS = 50
ROOT = Path(__file__).parent.parent.parent


class Server:
    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.store.appender", str(path)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def live_and_die(self, name: str, acknowledgements: int, seconds: float) -> list[tuple[str, int, bytes]]:
        """Run until so many acknowledgements and seconds have passed; all that was acknowledged."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{name}\n".encode())
        self.process.stdin.flush()
        pid = int(self.process.stdout.readline().split()[1])
        lines = [self.process.stdout.readline() for _ in range(acknowledgements)]
        time.sleep(seconds)  # a real process on a real disk: where it stands when it dies is to be anywhere
        os.kill(pid, signal.SIGKILL)
        while (line := self.process.stdout.readline()) != b"dead\n":
            assert line.endswith(b"\n"), "the server's parent has ended"
            lines.append(line)
        return [(stream.decode(), int(seq), payload) for stream, seq, payload in map(bytes.split, lines)]

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(PATIENCE) == 0


def check(path: Path, acknowledged: dict[tuple[str, int], bytes], spaces: tuple[str, ...] = ("last",)) -> None:
    with StateDirectory.claim(path) as directory:
        connection = connect(directory.database, readonly=True)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()
        reader = Reader(directory.database)
        kept: dict[tuple[str, int], bytes] = {}
        for stream in (f"s{number}" for number in range(STREAMS)):
            after = 0
            while page := reader.execute([Read(stream, after, 10_000)])[0]:
                assert isinstance(page, list)
                assert [seq for seq, _ in page] == list(range(after + 1, after + 1 + len(page)))
                kept |= {(stream, seq): payload for seq, payload in page}
                after += len(page)
        assert acknowledged.items() <= kept.items()
        assert len(set(kept.values())) == len(kept), "an event was kept twice"
        reached: dict[str, int] = {}
        for payload in acknowledged.values():
            writer, number = payload.decode().rsplit("-", 1)
            reached[writer] = max(reached.get(writer, 0), int(number))
        for writer, least in reached.items():
            for space in spaces:
                (last,) = reader.execute([Get(space, writer)])
                assert isinstance(last, bytes)
                assert int(last.decode().rsplit("-", 1)[1]) >= least
        states: dict[str, int] = {}
        after_key = ""
        while pairs := reader.execute([Keys("together", after=after_key)])[0]:
            assert isinstance(pairs, list)
            states |= {writer: int(payload.decode().rsplit("-", 1)[1]) for writer, payload in pairs}
            after_key = pairs[-1][0]
        assert states == last_evens(kept.values()), "an event without its state, or a state without its event"
        reader.close()


def last_evens(payloads: Iterable[bytes]) -> dict[str, int]:
    """Of each writer the last event that was one change with its state."""
    found: dict[str, int] = {}
    for payload in payloads:
        writer, number = payload.decode().rsplit("-", 1)
        if int(number) % 2 == 0:
            found[writer] = max(found.get(writer, 0), int(number))
    return found


@pytest.mark.slow
def test_after_fifty_kills_every_acknowledged_change_is_there_and_no_event_twice_or_without_its_state(
    tmp_path: Path,
) -> None:
    moments = random.Random(50)
    path = tmp_path / "state"
    path.mkdir()
    acknowledged: dict[tuple[str, int], bytes] = {}
    server = Server(path)
    try:
        for life in range(KILLS):
            answers = server.live_and_die(str(life), moments.choice([0, 0, 1, 30, 100]), moments.uniform(0, 0.03))
            for stream, seq, payload in answers:
                assert (stream, seq) not in acknowledged, "a number was given twice"
                acknowledged[stream, seq] = payload
            check(path, acknowledged, ("last", "soft"))
    finally:
        server.close()
    assert len(acknowledged) > KILLS
