"""What a workspace's index is to do, and how far it is."""

from typing import Literal

from msgspec import Struct

IndexMode = Literal["full", "text_only"]
"""full: with vectors. text_only: words, symbols and imports."""

FOLDER_LEFT_OUT = "this folder is left out."
"""How a sentence ends that begins with the path of a folder."""


class IndexTrouble(Exception):
    """The index cannot be read or written: a full disk, a folder that is gone. The text is a sentence for the user."""


class WatchTrouble(Exception):
    """The folder cannot be watched. The text is a sentence for the user, which says what can be done about it."""


class WatchNews(Struct, frozen=True):
    """What may have changed in a folder that is watched."""

    paths: tuple[str, ...] = ()
    """Files or folders, from the root, with /. Of a folder everything below it may have changed."""
    lost: bool = False
    """Anything may have changed."""


class IndexWish(Struct, frozen=True, kw_only=True):
    """One update of the index, from its begin to its end."""

    paths: tuple[str, ...] | None = None
    """Files or folders below the root that may have changed; a folder counts with all that is in it. None: all."""
    anew: bool = False
    """Nothing that is in the index counts: every file is read again."""


class IndexFacts(Struct, frozen=True, kw_only=True):
    """How far the index is. It is said again and again while an update runs, and at its end."""

    total_files: int = 0
    """That belong into the index, as far as it is known."""
    indexed_files: int = 0
    """That are in it as they are on the disk, as far as it is known."""
    total_chunks: int = 0
    total_symbols: int = 0
    generation: int = 0
    """Grows with every commit."""
    complete: bool = False
    """Whether one update has gone through the whole workspace since the index was made."""
    completed_at: float | None = None
    """By the wall's clock."""
    mode: IndexMode = "text_only"
    troubles: tuple[str, ...] = ()
    """Sentences: files that were left out and why (some of them), an index that was damaged and is made anew ..."""
    vectors: int = 0
    """Chunks that have one."""
    changed: int = 0
    """Files that this update has read, or taken out."""
