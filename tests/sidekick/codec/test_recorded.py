"""What the released clients were recorded saying is understood, all of it."""

import json
from typing import Any

import pytest

from codec.sidekick import Announce, Bad, Dialect, Ear, Event, Other, Spawn, Update, dialect_of
from codec.sidekick.canonical import understand
from tests.sidekick.codec.kit import RELEASES, each, recorded, sentence

UNDRAWABLE = b'"x2": NaN'


def ear_of(release: str) -> Ear:
    """An ear that has heard this release's announce and spawns."""
    lines = recorded(release)
    dialect = dialect_of(lines[0])
    assert dialect is not None
    ear = Ear(dialect)
    for line in lines:
        if b'"announce"' in line or b'"spawn"' in line:
            ear.hear(line)
    return ear


@pytest.mark.parametrize("release", RELEASES)
def test_every_recorded_message_is_understood(release: str) -> None:
    for line in recorded(release):
        said = ear_of(release).hear(line)
        if UNDRAWABLE in line:
            assert "options.x2 must be a finite number, not NaN" in sentence(said), line
            continue
        for one in each(said):
            assert not isinstance(one, Bad | Other | Event), (line, one)
            # Canonical: read again as what it is written as, it is the same and needs no change.
            assert Ear(Dialect.D).hear(one.raw) == one, line


@pytest.mark.parametrize("release", RELEASES)
def test_the_announced_release_is_remembered(release: str) -> None:
    assert ear_of(release).version == release


E_WORDS = (b'"markdown"', b'{"value": "v"', b"NaN", b"Infinity")


def test_what_0_0_7_says_is_kept_byte_for_byte_but_for_its_own_words() -> None:
    for line in recorded("0.0.7"):
        said = Ear(Dialect.E).hear(line)
        owns = any(word in line for word in E_WORDS if b'"update", "target": "textbox' not in line)
        if isinstance(said, Bad) or owns:
            assert getattr(said, "raw", b"") != line or b"changeParent" in line
        else:
            assert not isinstance(said, list), line
            assert said.raw == line


def test_of_what_0_0_5_says_only_the_envelope_changes() -> None:
    for line in recorded("0.0.5"):
        said = ear_of("0.0.5").hear(line)
        if b'"control"' in line or b"NaN" in line or b"Infinity" in line:
            continue
        assert not isinstance(said, list | Bad), line
        assert said.raw == line.replace(b'"module"', b'"component"', 1)


def test_the_fast_way_and_the_long_way_hear_the_same() -> None:
    for line in recorded("0.0.7"):
        message: Any = json.loads(line, parse_constant=str)
        heard, judged = Ear(Dialect.E).hear(line), understand(message, line)
        assert type(heard) is type(judged), line
        if isinstance(heard, Update | Spawn) and isinstance(judged, Update | Spawn):
            assert heard.payload == judged.payload
            assert heard.target == judged.target


def test_an_announce_is_taken_apart() -> None:
    said = Ear(Dialect.C).hear(recorded("0.0.5")[0])
    assert isinstance(said, Announce)
    assert (said.role, said.status, said.version) == ("hero", "online", "0.0.5")
    assert said.peer_id.startswith("hero-")
    assert isinstance(said.timestamp, int)
