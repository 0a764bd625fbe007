"""What can be said of the files below a workspace's folder: words that its disk and the agent share."""

from collections.abc import Sequence
from hashlib import sha256

from msgspec import Struct


class FileRefused(Exception):
    """It is not there, is no plain file of the workspace, is too large, or may not be read. The text is a sentence for
    the user and for the model."""


class FileUnknown(FileRefused):
    """Nobody knows yet whether the file was changed: the disk has not answered."""


class FileModified(FileRefused):
    """The file is not as it was when the change was made for it."""


def hex_digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def digest_of(data: bytes) -> str:
    return f"sha256:{hex_digest(data)}"


class FileImage(Struct, frozen=True):
    """A whole file."""

    path: str
    data: bytes
    mode: int
    """Its permission bits."""

    @property
    def digest(self) -> str:
        return digest_of(self.data)


class FileReplacement(Struct, frozen=True):
    path: str
    before: str | None
    """The digest of the file that is replaced. None: there must be none."""
    data: bytes | None
    """None: the file is deleted."""
    mode: int | None = None
    """None: the mode of the file before it, or that of a new file."""


class TreeEntry(Struct, frozen=True):
    path: str
    """From the workspace's root, with /; a folder ends with it."""
    size: int = 0


class FileText(Struct, frozen=True):
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


class FileLine(Struct, frozen=True):
    number: int
    text: str


class FileHit(Struct, frozen=True):
    path: str
    lines: Sequence[FileLine]
    """Some of the lines that match."""
    count: int
    """Of all lines that match."""
    score: float = 0.0
