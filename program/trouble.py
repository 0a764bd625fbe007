"""The one exception whose text is meant for the user at the terminal."""

WRONGLY_ASKED = 2
"""The exit code for an invalid command line, setting or place: the same call will fail again."""

WENT_WRONG = 1
"""The exit code for a failure that may pass: no server is running, the disk is full."""


class Trouble(Exception):
    """A problem that the user can solve. The text says what is wrong and what to do; it is shown without a
    traceback."""

    def __init__(self, sentence: str, *, code: int = WRONGLY_ASKED) -> None:
        super().__init__(sentence)
        self.code = code
