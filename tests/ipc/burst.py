"""Drops thousands of requests on the desk of real servers while one of its ends is a stopped process (SIGSTOP), for
longer than an attempt may take. The law: after SIGCONT all are answered, and none was given up.

    BOTH      one process has both ends, and is stopped: its time does not run
    SERVER    the server end is a process of its own, and is stopped, while the client end's time runs on
    CLIENT    the client end is, while the server end answers what it sees

    .venv/bin/python -m tests.ipc.burst --requests 20000
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.house.running import Server, server
from tests.ipc.peers import put

PATIENCE = 300.0
ATTEMPT_SECONDS = 1.0
SETTINGS = ("ipc.port=0", f"ipc.attempt_seconds={ATTEMPT_SECONDS}", "ipc.backoff=immediate", "ipc.rescan_seconds=1.0")
BOTH, SERVER, CLIENT = KINDS = ("both", "server", "client")


@dataclass(frozen=True)
class Ends:
    desk: Server
    """Has the client end, and so the ledger."""
    stopped: Server


def burst(folder: Path, kind: str, count: int, *, stopped_seconds: float = 1.6 * ATTEMPT_SECONDS) -> float:
    """Seconds from SIGCONT until all were answered."""
    base = folder / "base"
    with _ends(folder, kind) as ends:
        for end in ("client", "server"):
            _until((base / "state" / f"{end}.lock").exists, f"the {end} end does not come")
        try:
            ends.stopped.process.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            for number in range(count):
                id = f"burst-{number}"  # noqa: A001 - as in the contract
                put(base / "requests" / f"{id}.json", {"request_id": id, "command": "ping", "params": {}})
            time.sleep(max(0.0, stopped_seconds - (time.monotonic() - began)))
        finally:
            ends.stopped.process.send_signal(signal.SIGCONT)
        began = time.monotonic()
        _until(lambda: _totals(ends.desk).get("success") == count, "not all succeed", ends.desk)
        seconds = time.monotonic() - began
        totals = _totals(ends.desk)
        assert {state: number for state, number in totals.items() if number} == {"success": count}, totals
        assert os.listdir(base / "failed") == []
        responses = [json.loads(path.read_bytes()) for path in (base / "responses").iterdir()]
        assert len(responses) == count
        assert {response["status"] for response in responses} == {"success"}
    return seconds


@contextmanager
def _ends(folder: Path, kind: str) -> Iterator[Ends]:
    settings = (f"ipc.base={folder / 'base'}", *SETTINGS)
    with ExitStack() as stack:

        def house(name: str, *more: str) -> Server:
            words = [word for setting in (*settings, *more) for word in ("--set", setting)]
            return stack.enter_context(server(folder / name, *words)).ready()

        if kind == BOTH:
            both = house("both")
            yield Ends(both, both)
            return
        answering = house("server", "ipc.client=false")
        desk = house("client", "ipc.server=false")
        yield Ends(desk, answering if kind == SERVER else desk)


def _totals(house: Server) -> dict[str, int]:
    found = httpx.get(f"{house.url_of('ipc')}/totals", timeout=PATIENCE).json()
    states = found["by_state"]
    assert isinstance(states, dict)
    return states


def _until(is_so: Callable[[], bool], what: str, house: Server | None = None) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, (what, _totals(house) if house else None)
        time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--requests", type=int, default=20_000)
    options = parser.parse_args()
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            seconds = burst(Path(folder), kind, options.requests)
        sys.stdout.write(f"{kind} stopped: {options.requests:,} requests were answered within {seconds:.1f} s\n")


if __name__ == "__main__":
    main()
