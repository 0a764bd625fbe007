"""What the ledger is told, also if it cannot take it at once: of each request the newest fact, once."""

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from actors.ipc.messages import LEDGER, Forgotten, Noted
from actors.ipc.noting import Noting
from actors.kernel import MailboxFull


class PaperLedger:
    """Takes so many messages of a flush, if it is there."""

    def __init__(self) -> None:
        self.there = True
        self.room = 99
        self.known: dict[str, Any] = {}

    def find(self, name: object) -> "PaperLedger | None":
        return self if name == LEDGER and self.there else None

    def tell(self, message: Noted | Forgotten) -> None:
        if self.room == 0:
            raise MailboxFull("full")
        self.room -= 1
        if isinstance(message, Noted):
            facts: Any = message.facts
            self.known.update({fact.id: fact.number for fact in facts})
        else:
            self.known.update(dict.fromkeys(message.ids))


class PaperFact:
    def __init__(self, name: str, number: int) -> None:
        self.id = name
        self.number = number
        self.fact = self


names = st.sampled_from("abc")
changes = st.lists(st.tuples(names, st.booleans()), max_size=4)


@given(st.lists(st.tuples(changes, st.integers(0, 3)), max_size=6))
@example([([("a", False), ("b", True)], 0)])
@example([([("a", False), ("b", True)], 0), ([("a", True)], 1)])
def test_of_what_a_busy_ledger_could_not_take_the_newest_is_told_again(
    story: list[tuple[list[tuple[str, bool]], int]],
) -> None:
    ledger = PaperLedger()
    noting: Any = Noting(ledger)  # type: ignore[arg-type]
    newest: dict[str, int | None] = {}
    number = 0
    for each, room in story:
        for name, gone in each:
            number += 1
            newest[name] = None if gone else number
            if gone:
                noting.forgotten([name])
            else:
                noting.changed(PaperFact(name, number))
        ledger.room = room
        noting.flush()
        if noting._facts:
            assert noting._wanted.is_set()
    ledger.room = 99
    noting.flush()
    assert ledger.known == newest
    assert noting._facts == {}


def test_nobody_there_is_told_nothing_and_nothing_is_kept_for_it() -> None:
    ledger = PaperLedger()
    ledger.there = False
    noting: Any = Noting(ledger)  # type: ignore[arg-type]
    noting.forgotten(["a"])
    noting.flush()
    ledger.there = True
    noting.flush()
    assert ledger.known == {}
