"""A worker on which one thing is odd. Its last argument says which:

opens=FILE     notes in that file what it opens
ends=WORD      ends when it reads a file whose text has this word
hangs=WORD     computes without end then
fails=BYTES    no file of its may become larger than this
denies=NAME    may not open what has this name
readonly=      may not write to the index
slow=FILE      reads a file only while that file is not there
room=FILE      thinks that the disk is nearly full while that file is there
"""

import errno
import os
import resource
import signal
import sqlite3
import sys
import time
from pathlib import Path


def main() -> None:
    *arguments, odd = sys.argv[1:]
    sys.path += arguments[3:]
    from transports.agent.index import reading, worker

    kind, _, value = odd.partition("=")
    taken = reading.facts_of

    def facts_of(path: str, text: str):  # type: ignore[no-untyped-def]
        if kind == "ends" and value in text:
            os.kill(os.getpid(), signal.SIGKILL)
        while kind == "hangs" and value in text:
            pass
        while kind == "slow" and Path(value).exists():
            time.sleep(0.001)
        return taken(path, text)

    reading.facts_of = facts_of
    if kind == "denies":

        def deny(event: str, found: tuple[object, ...]) -> None:
            if event == "open" and found[0] == value:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        sys.addaudithook(deny)
    if kind == "readonly":
        connect = sqlite3.connect

        def reads_only(path: Path, **options: object) -> sqlite3.Connection:
            return connect(f"file:{path}?mode=ro", uri=True, **options)  # type: ignore[call-overload, no-any-return]

        sqlite3.connect = reads_only  # type: ignore[assignment]
    if kind == "fails":
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(value), resource.RLIM_INFINITY))
    if kind == "room":
        asked = os.statvfs

        def statvfs(path: Path) -> os.statvfs_result:
            fields = list(asked(path))
            if Path(value).exists():
                fields[3] = fields[4] = 1
            return os.statvfs_result(fields)

        os.statvfs = statvfs  # type: ignore[assignment]
    if kind == "opens":
        notes = os.open(value, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

        def note(event: str, found: tuple[object, ...]) -> None:
            if event in ("open", "os.listdir", "os.scandir"):
                os.write(notes, f"{event} {found[0]}\n".encode())

        sys.addaudithook(note)
    sys.argv = [sys.argv[0], *arguments]
    worker.main()


if __name__ == "__main__":
    main()
