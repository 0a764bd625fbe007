"""Patches: diffs as models write them, read, applied and made; three-way merges; texts that replace others. All of it
are functions of bytes and text. Whatever is not certainly right is refused, in a sentence for the model."""

from codec.agent.patches.applying import applied
from codec.agent.patches.making import made_diff
from codec.agent.patches.merging import merged
from codec.agent.patches.patch import Applied, FilePatch, MadeDiff, PatchRefused, PatchUnreadable
from codec.agent.patches.reading import parse_diff
from codec.agent.patches.replacing import replaced, rewritten

__all__ = [
    "Applied",
    "FilePatch",
    "MadeDiff",
    "PatchRefused",
    "PatchUnreadable",
    "applied",
    "made_diff",
    "merged",
    "parse_diff",
    "replaced",
    "rewritten",
]
