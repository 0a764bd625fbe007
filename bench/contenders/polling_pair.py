"""A pair that polls as the original does: the server looks every half second, the client once a second.

    python -m bench.contenders.polling_pair BASE    the server; the client is `ask`
"""

import json
import os
import sys
import time
from pathlib import Path

SERVER_SECONDS, CLIENT_SECONDS = 0.5, 1.0


def serve(base: Path) -> None:
    while True:
        for path in (base / "requests").iterdir():
            answer = base / "responses" / path.name
            if not answer.exists():
                id = json.loads(path.read_text())["request_id"]  # noqa: A001 - as in the contract
                answer.write_text(json.dumps({"request_id": id, "status": "success", "data": {"message": "pong"}}))
        time.sleep(SERVER_SECONDS)


def ask(base: Path) -> float:
    """Seconds until it is answered."""
    begun, id = time.perf_counter(), os.urandom(8).hex()  # noqa: A001
    draft = base / "requests" / f"{id}.json"
    draft.write_text(json.dumps({"request_id": id, "command": "ping", "params": {}}))
    while not (base / "responses" / f"{id}.json").exists():
        time.sleep(CLIENT_SECONDS)
    return time.perf_counter() - begun


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
