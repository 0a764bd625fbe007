"""Drops requests on the desk of a real server, and kills the server and its peer again and again at random moments.

The law: every request ends as a success in responses/ or with a copy in failed/, after three attempts at most, and the
desk says so. Nothing is torn, and no draft of ours stays among the files that others look at. (A foreign server that is
killed as it writes may leave one of its own, which is not ours to delete.)

    OURS       both ends are ours
    THEIRS     the client end is ours; the server is a foreign script, which is killed too

    .venv/bin/python -m tests.ipc.storm --rounds 200 --seed 1
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.house.running import ROOT, Server, server
from tests.ipc.peers import is_draft, put

PATIENCE = 45.0
SETTINGS = ("ipc.attempt_seconds=2.0", "ipc.backoff=immediate", "ipc.model=echo", "ipc.rescan_seconds=1.0")
OURS, THEIRS = KINDS = ("ours", "theirs")


@dataclass
class DeskStorm:
    folder: Path
    seed: int
    expected: dict[str, str] = field(default_factory=dict)
    """By id: success or failed."""
    ends: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.base = self.folder / "base"
        self.log = self.folder / "runs"
        self._draw = random.Random(self.seed)

    def life(self, kind: str) -> None:
        """Requests are dropped, processes die, and at last all is answered."""
        with self._peer(kind) as peer, self._house(kind) as house:
            self._ready(house)
            self._wait_for_the_client()
            self._drop(kind, self._draw.choice([5, 40]))
            for _ in range(self._draw.choice([1, 2, 3])):
                time.sleep(self._draw.choice([0.0, 0.02, 0.2]) * self._draw.random())
                if peer is not None and self._draw.random() < 0.5:
                    peer.again()
                    self._count("a foreign server by SIGKILL")
            self._drop(kind, self._draw.choice([0, 5]))
            by = self._draw.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
            house.process.send_signal(by)
            house.ended()
            self._count(by.name)

    def settle(self, kind: str) -> None:
        """All that was dropped ends."""
        with self._peer(kind), self._house(kind) as house:
            self._ready(house)
            end = time.monotonic() + PATIENCE
            while missing := [id for id in self.expected if not self._ended(id)]:  # noqa: A001
                assert house.process.poll() is None, "the server has ended"
                assert time.monotonic() < end, f"{len(missing)} never end:\n{self._told(house, missing)}"
                time.sleep(0.05)
            self._desk_agrees(house, end)
            assert house.stop() == 0, house.said
        self.check()

    def check(self) -> None:
        for id, outcome in self.expected.items():  # noqa: A001
            response = json.loads((self.base / "responses" / f"{id}.json").read_text())
            assert response["request_id"] == id
            assert response["status"] == ("success" if outcome == "success" else "error"), (id, outcome, response)
            assert (self.base / "failed" / f"{id}.json").exists() == (outcome == "failed"), (id, outcome)
        for room in ("requests", "responses", "failed"):
            odd = {path.name for path in (self.base / room).iterdir() if path.suffix != ".json"}
            assert odd - {name for name in odd if is_draft(name)} == set()
        set_aside = {path.name for path in (self.base / "quarantine").iterdir()}
        if not (self.seed % 2):  # the peer writes in place, and leaves torn answers when it is killed
            assert not set_aside, set_aside

    # --

    def _ready(self, house: Server) -> None:
        """One that does not come says where it stands."""
        try:
            house.ready()
        except TimeoutError:
            house.process.send_signal(signal.SIGABRT)
            house.ended()
            raise AssertionError(f"the server does not get ready:\n{house.said}") from None

    def _wait_for_the_client(self) -> None:
        """What was answered before the first client came is history, and nobody's."""
        end = time.monotonic() + PATIENCE
        while not (self.base / "state" / "client.lock").exists():
            assert time.monotonic() < end, "the client end does not come"
            time.sleep(0.005)

    def _told(self, house: Server, missing: Sequence[str]) -> str:
        """What files and desk say of these."""
        lines = [httpx.get(f"{house.url_of('ipc')}/totals").text]
        for id in missing[:3]:  # noqa: A001
            files = [str(path) for path in sorted(self.base.rglob(f"*{id}*"))]
            lines += [*files, httpx.get(f"{house.url_of('ipc')}/requests/{id}").text]
        return "\n".join(lines)

    def _desk_agrees(self, house: Server, end: float) -> None:
        """What the desk tells of each request is what its files say."""
        with httpx.Client(base_url=house.url_of("ipc"), timeout=PATIENCE) as desk:
            for id, outcome in self.expected.items():  # noqa: A001
                while True:
                    fact = desk.get(f"/requests/{id}").json()["fact"]
                    if fact["state"] == ("success" if outcome == "success" else "gave up"):
                        break
                    assert time.monotonic() < end, (id, outcome, fact)
                    time.sleep(0.05)
                assert fact["attempts"] <= 3, fact

    def _drop(self, kind: str, count: int) -> None:
        (self.base / "requests").mkdir(parents=True, exist_ok=True)
        for _ in range(count):
            id = f"{kind}-{len(self.expected)}"  # noqa: A001
            document = self._document(kind, id)
            put(self.base / "requests" / f"{id}.json", document, in_place=self._draw.random() < 0.2)

    def _document(self, kind: str, id: str) -> dict[str, Any]:  # noqa: A002
        if kind == THEIRS:
            fails = self._draw.choice([0, 0, 1, 9])
            self.expected[id] = "failed" if fails == 9 else "success"
            return {"request_id": id, "command": "any", "params": {"fail": fails, "text": id}}
        self.expected[id] = self._draw.choice(["success", "success", "failed"])
        if self.expected[id] == "failed":
            return {"request_id": id, "command": "noSuchCommand", "params": {}}
        return {"request_id": id, "command": "submitPrompt", "params": {"prompt": id}}

    def _ended(self, id: str) -> bool:  # noqa: A002
        room = "responses" if self.expected[id] == "success" else "failed"
        try:
            document = json.loads((self.base / room / f"{id}.json").read_text())
        except (OSError, ValueError):
            return False
        return bool(document["status"] == ("success" if room == "responses" else "error"))

    def _house(self, kind: str) -> "Any":
        own = ("ipc.server=false",) if kind == THEIRS else ()
        settings = [f"ipc.base={self.base}", "ipc.port=0", *SETTINGS, *own]
        options = [word for setting in settings for word in ("--set", setting)]
        return server(self.folder, *options)

    @contextmanager
    def _peer(self, kind: str) -> Iterator["Peer | None"]:
        if kind != THEIRS:
            yield None
            return
        peer = Peer(["server", str(self.base), str(self.log), *(["--in-place"] if self.seed % 2 else [])])
        try:
            yield peer
        finally:
            peer.end()

    def _count(self, what: str) -> None:
        self.ends[what] = self.ends.get(what, 0) + 1


class Peer:
    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        self._process = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([sys.executable, "-S", str(ROOT / "tests" / "ipc" / "peers.py"), *self._arguments])

    def again(self) -> None:
        self.end()
        self._process = self._start()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    ends: dict[str, int] = {}
    requests = 0
    for seed in range(options.seed, options.seed + options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            storm = DeskStorm(Path(folder), seed)
            kind = KINDS[seed % 2]
            storm.life(kind)
            storm.settle(kind)
        requests += len(storm.expected)
        for what, count in storm.ends.items():
            ends[what] = ends.get(what, 0) + count
        sys.stdout.write(f"seed {seed}: {kind}, {len(storm.expected)} requests\n")
    told = ", ".join(f"{count} {what}" for what, count in sorted(ends.items()))
    sys.stdout.write(f"{requests:,} requests; ended {told}: all answered, none torn\n")


if __name__ == "__main__":
    main()
