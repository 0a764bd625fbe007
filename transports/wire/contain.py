"""Containment: an error that ends here, at the connection that caused it."""

from collections.abc import Callable

Contain = Callable[[str, BaseException], None]
"""Log and count it: what failed, and how."""
