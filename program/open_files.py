"""Raises the number of files that the server may have open.

Most systems let a program have 1,024 until it asks for more. Sidekick alone takes 4,096 connections, the other doors
take 512 each, and what they do needs files of its own.
"""

import resource

WANTED = 8_192


def settle() -> int:
    """Call this before the first program is started. Returns how many there may be, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= WANTED:
        return soft
    most = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    except (OSError, ValueError):  # macOS has a limit of its own below the one that it tells
        return soft
    return most
