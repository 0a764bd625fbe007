"""How many examples a law is tried with. The gate takes few, and others with each tree; `TROUPE_PLENTY=3` takes three
times as many, of every law."""

import os

PLENTY = float(os.environ.get("TROUPE_PLENTY", "1"))


def plenty(few: int) -> int:
    return max(1, round(few * PLENTY))
