"""What can be said of the files below a workspace's folder: words that its disk and the agent share."""

from collections.abc import Sequence
from dataclasses import dataclass


class FileRefused(Exception):
    """It is not there, is no plain file of the workspace, is too large, or may not be read. The text is a sentence for
    the user and for the model."""


@dataclass(frozen=True, slots=True)
class TreeEntry:
    path: str
    """From the workspace's root, with /; a folder ends with it."""
    size: int = 0


@dataclass(frozen=True, slots=True)
class FileText:
    path: str
    text: str
    first_line: int
    """Counted from 1."""
    lines: int
    """Of the whole file."""
    digest: str
    """sha256:..., of the whole file's bytes."""
    cut: bool = False
    """Whether there is more than `text`."""
    encoding: str = "utf-8"
    """How it was read. latin-1 is a guess, and stands for whatever is nothing else."""


@dataclass(frozen=True, slots=True)
class FileLine:
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class FileHit:
    path: str
    lines: Sequence[FileLine]
    """Some of the lines that match."""
    count: int
    """Of all lines that match."""
    score: float = 0.0
