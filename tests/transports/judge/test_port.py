"""How a page's connection to its panel ends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from actors.kernel import NobodyThere, TooManyChildren
from transports.judge import port
from transports.judge.port import RESTARTING, TRY_LATER


class Page:
    """A connection whose client says this, and then nothing more."""

    def __init__(self, *texts: bytes) -> None:
        self.texts = list(texts)
        self.closed: list[tuple[int, str]] = []

    async def receive_batch(self) -> list[bytes]:
        if not self.texts:
            await trio.sleep_forever()
        said, self.texts = self.texts, []
        return said

    async def close(self, code: int, reason: str) -> None:
        self.closed.append((code, reason))


class Desk:
    """One panel. It ends when it has heard `end`; or there is none, for this reason."""

    def __init__(self, refusal: Exception | None = None) -> None:
        self.refusal = refusal
        self.said: list[bytes] = []

    @asynccontextmanager
    async def attend(self, line: object) -> AsyncIterator["Desk"]:
        if self.refusal is not None:
            raise self.refusal
        with trio.CancelScope() as self.scope:
            yield self

    async def heard(self, text: bytes) -> None:
        self.said.append(text)
        if text == b"end":
            self.scope.cancel()
        await trio.lowlevel.checkpoint()


@pytest.mark.parametrize(
    ("refusal", "closed", "words"),
    [
        (None, RESTARTING, "the panel has ended; connect again"),
        (TooManyChildren("there are as many panels as may be"), TRY_LATER, "there are as many already"),
        (NobodyThere("the judge"), TRY_LATER, ""),
    ],
)
async def test_a_page_is_told_why_its_connection_ends(refusal: Exception | None, closed: int, words: str) -> None:
    page: Any = Page(b"one", b"two", b"end")
    desk: Any = Desk(refusal)
    await port._attend(desk, page, None)  # type: ignore[arg-type]
    ((code, reason),) = page.closed
    assert code == closed
    assert words in reason
    assert desk.said == ([] if refusal else [b"one", b"two", b"end"])
