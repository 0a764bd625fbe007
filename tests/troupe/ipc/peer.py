"""Whoever sits at the desk, for the tests: it answers requests, tries again what failed, and keeps the locks as the
real ends do. In a thread, or as a program: `python -m tests.troupe.ipc.peer BASE`.

    echo    {"content": params["prompt"]}      fail    busy, three times
    flaky   busy, and then {"tries": 2}        wrong   a permanent error
    never   no answer
"""

import fcntl
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from codec.ipc import Failure, Outcome, Success, file_of, id_of, read_request, write_response
from tests.patience import PATIENCE

ATTEMPTS = 3


class Peer:
    def __init__(self, base: Path) -> None:
        self.base = base
        self.attempts: dict[str, int] = {}
        self.order: list[str] = []
        self.present = threading.Event()
        """It holds the locks."""
        self.stopped = threading.Event()
        self.looks = threading.Lock()
        """Held while it looks: whoever holds it finds none of its files open."""
        self._over: set[str] = set()
        for room in ("requests", "responses", "failed", "state"):
            (base / room).mkdir(mode=0o700, parents=True, exist_ok=True)

    def serve(self) -> None:
        with self._claimed():
            while not self.stopped.wait(0.003):
                with self.looks:
                    self.look()

    def look(self) -> None:
        for name in sorted(os.listdir(self.base / "requests")):
            request_id = id_of(name)
            if request_id is not None and request_id not in self._over:
                self._answer(request_id)

    def _answer(self, request_id: str) -> None:
        if any((self.base / room / file_of(request_id)).exists() for room in ("responses", "failed")):
            self._over.add(request_id)
            return
        try:
            content = (self.base / "requests" / file_of(request_id)).read_bytes()
        except FileNotFoundError:  # somebody has taken it away since it was listed
            return
        request = read_request(content, request_id)
        if request.command == "never":
            return
        number = self.attempts[request_id] = self.attempts.get(request_id, 0) + 1
        self.order.append(request_id)
        outcome = self.outcome(request.command, dict(request.params), number)
        data = write_response(request_id, outcome)
        self._put("responses", request_id, data)
        if isinstance(outcome, Success):
            self._over.add(request_id)
        elif outcome.permanent or number >= ATTEMPTS:
            self._put("failed", request_id, data)
            self._over.add(request_id)
        else:
            (self.base / "responses" / file_of(request_id)).unlink()

    @staticmethod
    def outcome(command: str, params: dict[str, object], attempt: int) -> Outcome:
        match command:
            case "echo":
                return Success({"content": params.get("prompt")})
            case "flaky" if attempt == 2:
                return Success({"tries": 2})
            case "wrong":
                return Failure("no such model", permanent=True)
            case _:
                return Failure("busy")

    def _put(self, room: str, request_id: str, data: bytes) -> None:
        draft = self.base / room / ".draft"
        draft.write_bytes(data)
        draft.rename(self.base / room / file_of(request_id))

    @contextmanager
    def _claimed(self) -> Iterator[None]:
        with ExitStack() as stack:
            for end in ("server", "client"):
                lock = stack.enter_context((self.base / "state" / f"{end}.lock").open("w"))
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                lock.write(f"{os.getpid()}\n")
                lock.flush()
            self.present.set()
            yield


@contextmanager
def at_the_desk(base: Path) -> Iterator[Peer]:
    peer = Peer(base)
    thread = threading.Thread(target=peer.serve)
    thread.start()
    try:
        assert peer.present.wait(PATIENCE), "nobody could sit down"
        yield peer
    finally:
        peer.stopped.set()
        thread.join()


if __name__ == "__main__":
    Peer(Path(sys.argv[1])).serve()
