"""The words of a command line as values (paths, sizes, rooms, numbers), and a sentence for a word that is none.

Each function takes a word and returns its value, or raises an ArgumentTypeError, which argparse turns into the
sentence.
"""

import argparse
import math
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from codec.judge import is_file_name
from program import places


def path(text: str) -> Path:
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError("expected a path")
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        raise argparse.ArgumentTypeError(f"there is no home directory for {Path(text).parts[0]!r}") from None
    return path if path.is_absolute() else places.here() / path


def file(text: str) -> Path | None:
    return None if text == "-" else path(text)


def program(text: str) -> str:
    if not text or not text.isprintable():
        raise argparse.ArgumentTypeError("expected cpython, pypy, or the path of a Python")
    return text


def word(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("expected a part of a name or path, such as sidekick or 'page *'")
    return text.strip()


def question(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError('expected a question, such as "where is the configuration read?"')
    return text.strip()


def session(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("expected the id of a session; `troupe sessions` lists them")
    return text.strip()


def file_name(text: str) -> str:
    if not is_file_name(text):
        raise argparse.ArgumentTypeError(f"expected a plain file name such as input.txt, got {text!r}")
    return text


def room(text: str) -> str:
    from codec.sidekick.recording import is_room  # here, so that other commands need not load Sidekick

    if not is_room(text):
        raise argparse.ArgumentTypeError(
            f"expected the name of a room, 1 to 64 letters, digits, hyphens or underscores, got {text!r}"
        )
    return text


def size(text: str) -> int:
    found = re.fullmatch(r"([0-9]{1,15})([kMG]?)", text)
    if found is None or not int(found[1]):
        raise argparse.ArgumentTypeError(f"expected a number of bytes, such as 500000 or 500M, got {text!r}")
    return int(found[1]) * {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}[found[2]]


def speed(text: str) -> float:
    if text == "max":
        return 0.0
    expected = "a number above 0, such as 2 or 0.5, or max for as fast as possible"
    number = _number(text, expected)
    if number == 0:
        raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")
    return number


def seconds(text: str) -> float:
    return _number(text, "a number of seconds, such as 2")


def days(text: str) -> float:
    return _number(text, "a number of days, such as 30")


def whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (re.fullmatch(r"[0-9]{1,9}", text) and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"expected a whole number from {least} to {most}, got {text!r}")
        return int(text)

    return read


def _number(text: str, expected: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")
    return number


def url(text: str) -> str:
    try:
        parts = urlsplit(text)
        well = parts.scheme == "http" and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        well = False
    if not well:
        raise argparse.ArgumentTypeError(f"expected an address such as http://127.0.0.1:5160, got {text!r}")
    return text
