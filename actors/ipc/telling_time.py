"""Moments of the wall clock as texts, in UTC. For display, and for the names of the archive's folders."""

from datetime import UTC, datetime


def moment_of(seconds: float) -> str:
    """In the form of ISO 8601."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def day_of(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
