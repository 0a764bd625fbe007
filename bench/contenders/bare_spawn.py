"""Starts processes and waits for them, and does nothing else: the limit that the system sets.

A program of its own, because whoever waits for any child at all must have no others. Each line that it reads is a list
of how many may run at once, the command, and the files to be read; each that it answers is seconds.
"""

import json
import os
import sys
import time


def spawned(at_once: int, command: list[str], inputs: list[str]) -> float:
    """Seconds for a process for each of the inputs; what they write is thrown away."""
    silence = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
    begun, running = time.perf_counter(), 0
    for given in inputs:
        if running >= at_once:
            os.wait()
            running -= 1
        actions = [(os.POSIX_SPAWN_OPEN, 0, given, os.O_RDONLY, 0), silence]
        os.posix_spawn(command[0], command, os.environ, file_actions=actions)
        running += 1
    while running:
        os.wait()
        running -= 1
    return time.perf_counter() - begun


if __name__ == "__main__":
    for line in sys.stdin:
        print(spawned(*json.loads(line)), flush=True)
