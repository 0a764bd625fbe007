"""What the index takes out of one file of the workspace, and what it must not take.

Rules
  - Files that are there to hold secrets are not opened. Nor is anything that is no plain file: even to open it may have
    an effect.
  - Only the name and the size are kept of a private key, and of a file that is no text or too large. If that is code,
    it is said: somebody may look for what is in it.
  - Secrets within a text are withheld before anything is taken out of it.
  - A file that is written to while it is read is read again, a few times. It is kept with the times and size that it
    had before it was read. So if it has changed since, the next scan sees that.
  - A file that has changed within the last tick of the disk's clock might change again, and look the same. It is kept
    with a time that never was, and so the next scan looks into it.
"""

import os
import stat
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from codec.agent.file_texts import decoded, is_private_key, is_secret_name
from codec.agent.files import digest_of
from codec.agent.index.extracting import extracted
from codec.agent.index.facts import FileFacts
from codec.agent.index.file_kinds import file_kind
from codec.agent.withheld import is_settings, withheld
from transports.agent.index.writing import TakenFile, file_words
from transports.folder.rooted import FileEntry, Rooted

LARGEST = 1 << 20
PARSE_SECONDS = 5.0
"""Of the processor. Whatever takes longer is taken without its syntax."""
_TOO_LARGE = f"{{}} was left out: it is larger than {LARGEST >> 20} MiB, and only its name can be found."
TRIES = 3
UNSURE = -1


def read_files(
    root: Rooted, paths: Sequence[str], digests: Mapping[str, str], lively: Callable[[], None]
) -> list[TakenFile]:
    """`digests`: of the files as they were last read."""
    found: list[TakenFile] = []
    split = sorted(tuple(path.split("/")) for path in paths)
    for above, group in groupby(split, key=lambda names: names[:-1]):
        waiting = deque(group)
        try:
            with root.folder(above) as here:
                while waiting:
                    lively()
                    names = waiting.popleft()
                    found.append(_read(root, here, names, digests.get("/".join(names))))
        except OSError:  # the folder has gone, or is another
            found += (TakenFile("/".join(names), None) for names in waiting)
    return found


def _read(root: Rooted, here: int, names: tuple[str, ...], digest: str | None) -> TakenFile:
    path = "/".join(names)
    try:
        status = os.stat(names[-1], dir_fd=here, follow_symlinks=False)
    except OSError:
        return TakenFile(path, None)
    if not stat.S_ISREG(status.st_mode):
        return TakenFile(path, None)
    entry = FileEntry.of(status)
    if is_secret_name(names[-1]) or is_settings(path):
        return TakenFile(path, entry)
    if status.st_size > LARGEST:
        return TakenFile(path, entry, trouble=_TOO_LARGE.format(path) if file_kind(path) == "code" else "")
    try:
        entry, data = _content(root, here, names)
    except FileNotFoundError:
        return TakenFile(path, None)
    except OSError as error:
        return TakenFile(path, entry, trouble=f"{path} cannot be read: {(error.strerror or 'the disk fails').lower()}.")
    if len(data) > LARGEST or is_private_key(names[-1], data):
        return TakenFile(path, entry)
    now = digest_of(data)
    if now == digest:
        return TakenFile(path, entry, now, same=True)
    text = decoded(data)
    if text is None:
        return TakenFile(path, entry, now)
    facts = facts_of(path, text[0])
    return TakenFile(path, entry, now, facts, file_words(path, facts))


def glanced(root: Rooted, path: str) -> FileEntry | None:
    """What is there, without opening it."""
    names = tuple(path.split("/"))
    try:
        with root.folder(names[:-1]) as here:
            status = os.stat(names[-1], dir_fd=here, follow_symlinks=False)
    except OSError:
        return None
    return FileEntry.of(status) if stat.S_ISREG(status.st_mode) else None


def facts_of(path: str, text: str) -> FileFacts:
    until = time.process_time() + PARSE_SECONDS
    return extracted(path, withheld(text, path), lambda: time.process_time() > until)


def _content(root: Rooted, here: int, names: tuple[str, ...]) -> tuple[FileEntry, bytes]:
    file = root.open_in(here, names)
    try:
        for tries in range(TRIES):
            if tries:
                os.lseek(file, 0, os.SEEK_SET)
            before = FileEntry.of(os.fstat(file))
            data = _all(file, before.size)
            if FileEntry.of(os.fstat(file)) == before:
                return before._replace(changed_ns=UNSURE) if before.is_fresh else before, data
    finally:
        os.close(file)
    return before._replace(changed_ns=UNSURE), data


def _all(file: int, size: int) -> bytes:
    data = os.read(file, min(size, LARGEST) + 1)
    if len(data) == size:
        return data
    parts = [data]
    left = LARGEST + 1 - len(data)
    while left > 0 and (part := os.read(file, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
