"""Whole files of a folder that others use too, read to be replaced later (replacing.py).

A folder is entered name by name, each as the disk has it, and what a killed process has left in it is swept.

Everything here blocks: call it in a thread.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from transports.folder.drafts import sweep
from transports.folder.fitness import PERMISSIONS, NotFit, check_names, check_spelling, check_writable, fit_file
from transports.folder.rooted import Names, NotPlain, Rooted

LARGEST = 8 << 20
"""Bytes of a file that is replaced. A larger one cannot be as it was when it was read."""


def file_images(rooted: Rooted, wanted: Sequence[Names], most: int) -> list[tuple[bytes, int] | OSError | None]:
    """The whole files that may be replaced, each with its permission bits. None: there is none."""
    found: list[tuple[bytes, int] | OSError | None] = [None] * len(wanted)
    folders: dict[Names, list[int]] = {}
    for number, names in enumerate(wanted):
        try:
            check_names(names)
        except NotPlain as error:
            found[number] = error
        else:
            folders.setdefault(names[:-1], []).append(number)
    for folder, numbers in folders.items():
        try:
            with opened(rooted, folder) as here:
                tidy(here)
                for number in numbers:
                    found[number] = _image(rooted, here, wanted[number], LARGEST)
                    if isinstance(image := found[number], tuple):
                        most -= len(image[0])
                        if most < 0:
                            found[number] = NotFit("is too much to be read at once with the others")
        except FileNotFoundError:
            continue
        except OSError as error:
            for number in numbers:
                found[number] = error
    return found


def _image(rooted: Rooted, here: int, names: Names, most: int) -> tuple[bytes, int] | OSError | None:
    try:
        with fit_file(rooted, here, names) as (file, status):
            data = read_again(file, most)
            if len(data) > most:
                return NotFit(f"is too large: only files of at most {most >> 20} MiB are read")
            return data, status.st_mode & PERMISSIONS
    except FileNotFoundError:
        return None
    except OSError as error:
        return error


@contextmanager
def opened(rooted: Rooted, folder: Names, made: list[Names] | None = None) -> Iterator[int]:
    """The folder as a descriptor. With `made`, missing folders below the root are made, and are in it then."""
    here = rooted.open_root()
    try:
        for depth in range(1, len(folder) + 1):
            try:
                there = rooted.enter(here, folder[:depth])
            except FileNotFoundError:
                if made is None:
                    raise
                check_writable(os.fstat(here))
                with suppress(FileExistsError):
                    os.mkdir(folder[depth - 1], 0o777, dir_fd=here)
                    made.append(folder[:depth])
                there = rooted.enter(here, folder[:depth])
            above, here = here, there
            try:
                check_spelling(above, folder[depth - 1], os.fstat(here))
            finally:
                os.close(above)
        yield here
    finally:
        os.close(here)


def read_again(file: int, most: int) -> bytes:
    """From its beginning, and at most so many bytes and one."""
    os.lseek(file, 0, os.SEEK_SET)
    parts, left = [], most + 1
    while left > 0 and (part := os.read(file, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def tidy(here: int) -> None:
    with suppress(OSError):  # it may be entered and not listed
        sweep(here)
