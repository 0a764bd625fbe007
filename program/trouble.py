"""The one exception whose text is meant for the person at the terminal."""

WRONGLY_ASKED = 2
"""The exit code for a command line, a setting or a place that cannot be: the same call will fail again."""

WENT_WRONG = 1
"""The exit code for what may well go right another time: no server runs, the disk is full."""


class Trouble(Exception):
    """Something a person can mend. The text says what is wrong and what to do, and is shown without a traceback."""

    def __init__(self, sentence: str, *, code: int = WRONGLY_ASKED) -> None:
        super().__init__(sentence)
        self.code = code
