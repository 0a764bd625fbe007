"""How many examples a law is tried with. The gate takes few, and others with each tree; `TROUPE_PLENTY=3` takes three
times as many, of every law."""

import os
import random

PLENTY = float(os.environ.get("TROUPE_PLENTY", "1"))


def plenty(few: int) -> int:
    return max(1, round(few * PLENTY))


def seeds(few: int) -> list[int]:
    """So many, drawn by the seed of the test's run."""
    return random.sample(range(1 << 30), plenty(few))
