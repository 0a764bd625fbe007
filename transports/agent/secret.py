"""The token of the agent's port: made once, kept in a file that this account alone can read.

A file that is a link, belongs to another account or holds no token of ours is refused with a sentence. A token that
others could read (by the file's mode) may be known to them, so it is replaced.
"""

import re
import secrets
from pathlib import Path

from msgspec import Struct

from transports.agent.private import read_private, write_private

TOKEN_FILE = "agent.token"  # noqa: S105 - a file's name
_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,128}", re.ASCII)


class TokenUnusable(Exception):
    """The text is a sentence for the user."""


class AgentToken(Struct, frozen=True):
    text: str
    new: bool
    """Whether it was made just now: whoever had the old one, or none, has to be told."""

    def __repr__(self) -> str:
        return "AgentToken(...)"  # never in a log


def agent_token(folder: Path) -> AgentToken:
    """The token in this folder, which is made if there is none. Raises TokenUnusable."""
    path = folder / TOKEN_FILE
    try:
        kept = read_private(path)
        if kept is None:
            text = secrets.token_urlsafe(32)
            write_private(path, f"{text}\n".encode())
            return AgentToken(text, new=True)
    except OSError as error:
        reason = "it is a link" if path.is_symlink() else error.strerror
        raise TokenUnusable(f"{path} cannot be used: {reason}. Remove it, and a new token is made.") from None
    text = kept.decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(text):
        raise TokenUnusable(
            f"{path} holds no token (32 to 128 letters, digits, - and _). Remove it, and a new token is made."
        )
    return AgentToken(text, new=False)
