"""Why an end does not work, in sentences for whoever shows how the desk is."""

from dataclasses import dataclass
from typing import Any, cast

import pytest

from actors.ipc.command import SERVER_REPORTS
from actors.ipc.ends import troubles_of_the_ends
from actors.ipc.messages import CLIENT_END
from actors.kernel import Key


@dataclass
class PaperEnd:
    trouble: str | None

    def statistics(self) -> "PaperEnd":
        return self


class PaperRegistry:
    def __init__(self, client: PaperEnd | None, server: PaperEnd | None) -> None:
        self._ends = {CLIENT_END.name: client, SERVER_REPORTS.name: server}

    def find(self, key: Key[Any]) -> PaperEnd | None:
        return self._ends[key.name]


@pytest.mark.parametrize(
    ("client", "server", "sentences"),
    [
        (None, None, ()),
        (PaperEnd(None), PaperEnd(None), ()),
        (PaperEnd(""), None, ()),
        (PaperEnd("the disk is full"), None, ("The disk is full.",)),
        (None, PaperEnd("a folder is missing"), ("A folder is missing.",)),
        (PaperEnd(None), PaperEnd("x"), ("X.",)),
        (PaperEnd("one"), PaperEnd("two"), ("One.", "Two.")),
        (PaperEnd("it is another's"), PaperEnd("it is another's"), ("It is another's.",)),
        (PaperEnd("/Desk is gone, and so is C:"), None, ("/Desk is gone, and so is C:.",)),
    ],
)
def test_each_trouble_is_one_sentence_and_is_said_once(
    client: PaperEnd | None, server: PaperEnd | None, sentences: tuple[str, ...]
) -> None:
    assert troubles_of_the_ends(cast("Any", PaperRegistry(client, server))) == sentences
