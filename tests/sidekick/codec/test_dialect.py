"""Which dialect a peer speaks, by the first thing it says."""

import pytest

from codec.sidekick import Dialect, dialect_of
from tests.sidekick.codec.kit import an_ear, announce, modern, old, recorded, third

FIRST = [
    (recorded("0.0.1")[0], Dialect.C),
    (recorded("0.0.4")[0], Dialect.C),
    (recorded("0.0.5")[0], Dialect.C),
    (recorded("0.0.7")[0], Dialect.E),
    (announce("1.0.0", component="system", type="announce"), Dialect.D),
    (announce("0.0.8", "sidekick", component="system", type="announce"), Dialect.E),
    (announce("0.1.0", component="system", type="announce"), Dialect.D),
    (announce("0.0.6", module="system", method="announce"), Dialect.B),
    (modern("grid", "spawn", "g", {"numColumns": 1, "numRows": 1}), Dialect.D),
    (third("grid", "spawn", "g", {"numColumns": 1, "numRows": 1}), Dialect.C),
    (old("grid", "spawn", "g", {"numColumns": 1, "numRows": 1}), Dialect.B),
    (old("grid", "spawn", "g", {"size": [1, 1]}), Dialect.A),
    (old("console", "update", "c", {"text": "a"}), Dialect.A),
    (old("global", "clearAll"), Dialect.B),
    (old("grid", "notify", "g", {"event": "click", "x": 1, "y": 1}), Dialect.A),
    (b'{"component": "viz", "type": "update", "payload": {"value": NaN}}', Dialect.D),
    (b"not json", None),
    (b"\xff", None),
    (b"[]", None),
    (b"{}", None),
    (b'{"module": "grid"}', None),
    (b'{"component": 3}', None),
    (b"[" * 10_000, None),
]


@pytest.mark.parametrize(("first", "dialect"), FIRST)
def test_the_first_message_tells_the_dialect(first: bytes, dialect: Dialect | None) -> None:
    assert dialect_of(first) is dialect


def test_a_peer_taken_for_d_turns_out_to_speak_e_by_its_release() -> None:
    ear = an_ear(Dialect.D)
    ear.hear(announce("0.0.7", component="system", type="announce"))
    assert (ear.dialect, ear.version) == (Dialect.E, "0.0.7")


@pytest.mark.parametrize(
    ("word", "dialect"),
    [
        (modern("markdown", "spawn", "m", {"text": "# T"}), Dialect.E),
        (modern("markdown", "update", "m", {"action": "setText", "options": {"text": "a"}}), Dialect.E),
        (modern("textbox", "spawn", "t", {"value": "v"}), Dialect.E),
        (modern("markdown", "spawn", "m", {"initialSource": "# T"}), Dialect.D),
        (modern("textbox", "spawn", "t", {}), Dialect.D),
        (modern("textbox", "event", "t", {"event": "submit", "value": "v"}), Dialect.D),
        (modern("label", "spawn", "l", {"text": "a"}), Dialect.D),
        (modern("markdown", "spawn", "m", {"text": 3}), Dialect.D),
    ],
)
def test_a_word_of_e_tells_e_from_d(word: bytes, dialect: Dialect) -> None:
    ear = an_ear(Dialect.D)
    ear.hear(word)
    assert ear.dialect is dialect
