"""How much one message may hold, how long its names may be, and what is too deep to be said again."""

import time
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from codec.sidekick import Announce, Bad, Dialect, Ear, Mouth, Spawn, Update, dialect_of
from codec.sidekick.repair import LONGEST, MOST_SURROGATES, repaired
from codec.sidekick.weight import LONGEST_ANNOUNCE, LONGEST_NAME, MOST_VALUES, is_too_much


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "heavy"),
    [
        (b"[],", True),
        (b"{},", True),
        (b"1,", True),
        (b'"",', True),
        (b'{"a":0},', True),
        (b'"some words, [{ and more ,,,,,,,,,,,,,,,,,,,,,,,,,,",', False),
        (b'"\\",\\\\",', True),
        (b'"\\",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\\\\,,,,,,,,,,,,,,,,,,,,,,,,",', False),
        (b'"' + b"x" * 100 + b'",', False),
    ],
)
def test_values_are_counted_and_what_strings_hold_is_not(part: bytes, heavy: bool) -> None:
    data = b"[" + part * (MOST_VALUES * 9 // 8 if heavy else 16 * MOST_VALUES // len(part)) + b"0]"
    begun = time.process_time()
    assert is_too_much(data) is heavy
    assert time.process_time() - begun < 3.0
    if heavy:
        assert dialect_of(data) is None
        said = Ear(Dialect.C).hear(data)
        assert isinstance(said, Bad)
        assert said.sentence == "a message must not hold more than 2,000,000 values"


@pytest.mark.slow
def test_a_message_of_exactly_so_many_values_is_heard() -> None:
    data = b"[" + b"1," * (MOST_VALUES - 1) + b"1]"
    assert not is_too_much(data)
    assert is_too_much(data.replace(b"1]", b"1,1]"))


@pytest.mark.slow
def test_a_text_may_hold_as_many_commas_as_it_likes() -> None:
    payload = {"action": "setText", "options": {"text": ",[{" * MOST_VALUES}}
    data = msgspec.json.encode({"component": "label", "type": "update", "target": "l", "payload": payload})
    assert isinstance(Ear(Dialect.D).hear(data), Update)


@pytest.mark.parametrize("field", ["component", "type", "target", "src"])
@pytest.mark.parametrize("dialect", Dialect)
def test_a_name_is_so_long_and_no_longer_in_any_dialect(dialect: Dialect, field: str) -> None:
    def heard(size: int) -> Any:
        message: dict[str, Any] = {"component": "chart", "type": "shine", "target": "t", "src": "s", field: "x" * size}
        if dialect in (Dialect.A, Dialect.B, Dialect.C):
            message["module"] = message.pop("component")
        if dialect in (Dialect.A, Dialect.B):
            message["method"] = message.pop("type")
        return Ear(dialect).hear(msgspec.json.encode(message))

    assert not isinstance(heard(LONGEST_NAME), Bad)
    said = heard(LONGEST_NAME + 1)
    assert said.sentence == f"a message's {field} may be 1,000 characters long, not 1,001"
    assert len(said.component) + len(said.target) < 20


@pytest.mark.parametrize("size", [1, LONGEST_NAME, LONGEST_NAME + 1])
def test_the_fast_way_has_the_same_limit_of_a_target(size: int) -> None:
    payload = {"action": "clearCell", "options": {"x": 0, "y": 0}}
    message = {"component": "grid", "type": "update", "target": "x" * size, "payload": payload}
    assert isinstance(Ear(Dialect.D).hear(msgspec.json.encode(message)), Update) == (size <= LONGEST_NAME)


def test_an_announce_is_as_long_as_it_is_kept() -> None:
    def heard(size: int) -> Any:
        payload = {"peerId": "x" * size, "role": "hero", "status": "online", "version": "1", "timestamp": 1}
        return Ear(Dialect.D).hear(msgspec.json.encode({"component": "system", "type": "announce", "payload": payload}))

    assert isinstance(heard(LONGEST_ANNOUNCE // 2), Announce)
    assert heard(LONGEST_ANNOUNCE).sentence.startswith("system announce: it may be 16,384 bytes long, not 16,")


def test_only_so_much_is_mended() -> None:
    assert repaired(b'["\\ud800",NaN]') == b'["\xef\xbf\xbd","NaN"]'
    assert repaired(b"[1, 2]") is None  # nothing in it
    assert repaired(b'["' + b"x" * LONGEST + b'",NaN]') is None
    assert repaired(b'"' + b"\\ud800" * (MOST_SURROGATES + 1) + b'"') is None
    assert repaired(b'"' + b"\\uDCFF" * MOST_SURROGATES + b'"') is not None


CHANGE = b'{"component":"%s","type":"update","target":"l","payload":{"action":"%s","options":{%s}}}'
DEEP = {
    "markdown": CHANGE % (b"markdown", b"setSource", b'"source":"","more":%b'),
    "label": CHANGE % (b"label", b"setText", b'"text":"","more":%b'),
    "unknown": CHANGE % (b"chart", b"shine", b'"more":%b'),
    "variable": CHANGE
    % (b"viz", b'set","variableName":"a', b'"valueRepresentation":{"id":"1","type":"list","value":%b}'),
}


def with_less_room(levels: int, call: Callable[[], None]) -> None:
    """Call this further down the stack."""
    if levels:
        with_less_room(levels - 1, call)
    else:
        call()


@pytest.mark.slow
@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("message", DEEP.values(), ids=DEEP)
def test_what_an_ear_could_just_hear_a_mouth_says_or_leaves_out(dialect: Dialect, message: bytes) -> None:
    heard = 0
    spawns = [Ear(Dialect.D).hear(b'{"component":"label","type":"spawn","target":"l","payload":{"text":""}}')]
    for depth in range(700, 1000, 5):
        said = Ear(Dialect.D).hear(message % (b"[" * depth + b"]" * depth))
        if isinstance(said, Bad):
            break
        assert not isinstance(said, list)
        heard += 1
        mouth = Mouth(dialect, "0.0.5" if dialect is Dialect.C else "")
        for spawn in spawns:
            assert isinstance(spawn, Spawn)
            mouth.say(spawn)
        with_less_room(60, lambda mouth=mouth, said=said: mouth.say(said))  # type: ignore[misc]
    assert heard
