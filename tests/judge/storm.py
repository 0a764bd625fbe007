"""Sends posts to a real server, and stops and kills the server again and again at random moments.

The law: for every post that was answered with 200, the complete folder exists after the next start. Nothing is
incomplete: there is no answer without its input, no input without its answer, no folder without main.py, and no draft.

    .venv/bin/python -m tests.judge.storm --rounds 60 --seed 1
"""

import argparse
import random
import signal
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from tests.house.running import Server, server
from tests.judge.kit import post

POSTERS = 6
PATIENCE = 60.0
Samples = tuple[tuple[str, str], ...]


@dataclass
class Storm:
    folder: Path
    seed: int
    answered: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    """By task: the samples of all its posts that were answered with 200."""
    count: int = 0
    unanswered: int = 0
    ends: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.workspace = self.folder / "workspace"
        self._moments = random.Random(self.seed)
        self._lock = threading.Lock()

    def rounds(self, count: int) -> None:
        for number in range(count):
            with self._server() as house:
                house.ready()
                if self._moments.random() < 0.3:
                    self.settled(house)
                    self.check()
                self._live_and_die(house, number)
        with self._server() as house:
            house.ready()
            self.settled(house)
            assert house.stop() == 0, house.said
        self.check()

    def _server(self) -> AbstractContextManager[Server]:
        return server(self.folder, "--set", f"judge.workspace={self.workspace}")

    def _live_and_die(self, house: Server, number: int) -> None:
        by = self._moments.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
        seconds = self._moments.choice([0.0, 0.02, 0.1, 0.4]) * self._moments.random()
        least = self._moments.choice([0, 1, 20])
        before = self.count
        over = threading.Event()
        with ThreadPoolExecutor(POSTERS) as posters:
            url = house.url_of("judge")
            jobs = [posters.submit(self._post, url, f"{number}-{poster}", over) for poster in range(POSTERS)]
            end = time.monotonic() + PATIENCE
            while self.count < before + least:
                assert time.monotonic() < end, "no post is answered any more"
                time.sleep(0.001)
            time.sleep(seconds)  # a real process on a real disk: where it stands when it dies is to be anywhere
            house.process.send_signal(by)
            house.ended()
            over.set()
        for job in jobs:
            job.result()
        self.ends[by.name] = self.ends.get(by.name, 0) + 1

    def _post(self, url: str, name: str, over: threading.Event) -> None:
        """One after the other: new problems, and the ones that all posters post."""
        draw = random.Random(f"{self.seed} {name}")
        where = urlsplit(url)
        connection = HTTPConnection(str(where.hostname), where.port, timeout=PATIENCE)
        number = 0
        while not over.is_set():
            number += 1
            task = draw.choice([f"s{name}/s{name}_{number}", f"s{name}/s{name}_{number}", f"all/all_{number % 3}"])
            samples = self._samples(draw, task)
            try:
                connection.request("POST", "/", post(task, *samples))
                answer = connection.getresponse()
                said = answer.read()
            except (OSError, HTTPException):  # it has ended
                self.unanswered += 1
                return
            finally:
                connection.close()
            assert answer.status == 200, said
            with self._lock:
                self.count += 1
                self.answered.setdefault(task, set()).update(samples)

    def _samples(self, draw: random.Random, task: str) -> Samples:
        if task.startswith("all/"):
            return tuple((f"{each}\n", f"{each % 2}\n") for each in draw.sample(range(12), 3))
        length = draw.choice([1, 1, 1, 50_000])
        return tuple((f"{each}\n" * length, "yes\n") for each in range(draw.choice([0, 1, 3, 6])))

    def settled(self, house: Server) -> None:
        """All that waits has its folder."""
        end = time.monotonic() + PATIENCE
        while True:
            nodes = house.json("/tree.json")["nodes"]
            (note,) = (node["note"] or "" for node in nodes if node["path"] == "troupe/judge/intake")
            if " wait" not in note:
                return
            assert time.monotonic() < end, note
            time.sleep(0.05)

    def check(self) -> None:
        for task, samples in self.answered.items():
            there = self._cases(self.workspace / task)
            assert samples <= set(there), f"{task} lacks {len(samples - set(there))} of {len(samples)} cases"
            assert len(set(there)) == len(there), f"{task} has a case twice"
        for contest in self.workspace.iterdir() if self.workspace.exists() else ():
            for folder in contest.iterdir():  # those of posts that nobody had an answer to are whole, too
                self._cases(folder)

    def _cases(self, task: Path) -> list[tuple[str, str]]:
        assert sorted(path.name for path in task.iterdir()) == ["main.py", "tests"], f"{task} is not whole"
        files = {path.name for path in (task / "tests").iterdir()}
        indices = [*range(1, len(files) // 2 + 1)]
        assert files == {f"{index}.{kind}" for index in indices for kind in ("in", "out")}, f"{task}: {sorted(files)}"
        return [
            ((task / "tests" / f"{index}.in").read_text(), (task / "tests" / f"{index}.out").read_text())
            for index in indices
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        storm = Storm(Path(folder), options.seed)
        storm.rounds(options.rounds)
    ends = ", ".join(f"{count} by {name}" for name, count in sorted(storm.ends.items()))
    told = f"{storm.count:,} posts answered, {storm.unanswered} cut off; ended {ends}: none lost, none half"
    sys.stdout.write(f"{told}\n")


if __name__ == "__main__":
    main()
