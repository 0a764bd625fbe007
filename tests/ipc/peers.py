"""The other ends of the desk, as others write them: each is a program of its own that only knows the contract.

    python -m tests.ipc.peers server BASE LOG [--in-place]   answers requests; writes a line to LOG for each run
    python -m tests.ipc.peers client BASE NAME COUNT         drops requests, and tries each three times itself

The server does what a request's params say: `{"fail": 2}` fails the first two runs that LOG knows of, `{"fail": 9}` all
of them, and `{"seconds": 0.1}` takes so long. Both poll, as the original does, and write by a rename unless they are
told to write in place. Nothing here imports the house.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

POLL_SECONDS = 0.005
ATTEMPTS = 3


def put(path: Path, document: dict[str, Any], *, in_place: bool = False) -> None:
    text = json.dumps(document)
    if in_place:  # in two pieces, as a slow writer does
        with path.open("w") as file:
            file.write(text[: len(text) // 2])
            file.flush()
            time.sleep(POLL_SECONDS)
            file.write(text[len(text) // 2 :])
        return
    draft = path.parent / f".{path.name}.{os.getpid()}.tmp"
    draft.write_text(text)
    draft.rename(path)


def is_draft(name: str) -> bool:
    """What `put` leaves if it is killed before the rename."""
    return name.startswith(".") and ".json." in name and name.endswith(".tmp")


def got(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):  # not there, or not whole
        return None
    return found if isinstance(found, dict) else None


# -- a server


def serve(base: Path, log: Path, *, in_place: bool) -> None:
    runs: dict[str, int] = {}
    for line in log.read_text().splitlines() if log.exists() else ():
        runs[line] = runs.get(line, 0) + 1
    with log.open("a") as lines:
        while True:
            for path in sorted((base / "requests").glob("*.json")):
                answer = base / "responses" / path.name
                if answer.exists() or (request := got(path)) is None:
                    continue
                id = request["request_id"]  # noqa: A001 - as in the contract
                runs[id] = runs.get(id, 0) + 1
                lines.write(f"{id}\n")
                lines.flush()
                put(answer, _done(id, request.get("params", {}), runs[id]), in_place=in_place)
            time.sleep(POLL_SECONDS)


def _done(id: str, params: dict[str, Any], run: int) -> dict[str, Any]:  # noqa: A002
    time.sleep(params.get("seconds", 0.0))
    if run <= params.get("fail", 0):
        return {"request_id": id, "status": "error", "error_message": f"run {run} fails"}
    return {"request_id": id, "status": "success", "data": {"echo": params.get("text"), "run": run}}


# -- a client


def ask(base: Path, name: str, count: int) -> dict[str, int]:
    """How many of these requests succeeded, and failed."""
    waiting = {}
    for number in range(count):
        id = f"{name}-{number}"  # noqa: A001
        command = "noSuchCommand" if number % 5 == 4 else "ping"
        put(base / "requests" / f"{id}.json", {"request_id": id, "command": command, "params": {}})
        waiting[id] = 1
    ended = {"success": 0, "error": 0}
    while waiting:
        for id, attempt in list(waiting.items()):  # noqa: A001
            path = base / "responses" / f"{id}.json"
            answer = got(path)
            if answer is None:
                continue
            if answer["status"] == "error" and attempt < ATTEMPTS:
                path.unlink()
                waiting[id] += 1
                continue
            if answer["status"] == "error":
                put(base / "failed" / f"{id}.json", answer)
            ended[answer["status"]] += 1
            del waiting[id]
        time.sleep(POLL_SECONDS)
    return ended


def main(role: str, base: Path, *rest: str) -> None:
    for room in ("requests", "responses", "failed"):
        (base / room).mkdir(parents=True, exist_ok=True)
    if role == "server":
        serve(base, Path(rest[0]), in_place="--in-place" in rest)
    else:
        sys.stdout.write(json.dumps(ask(base, rest[0], int(rest[1]))) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
