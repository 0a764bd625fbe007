import json
from types import MappingProxyType
from typing import Any

import hypothesis
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.redaction import BLANK, LONGEST_TEXT, MOST_ITEMS, blank_secrets, clean, is_secret

SECRET = "s3cr3t-v4lue"


def written(**entry: object) -> str:
    return json.dumps(blank_secrets(None, "info", dict(entry)))


@pytest.mark.parametrize(
    "key",
    [
        "token",
        "TOKEN",
        "session_token",
        "sessionToken",
        "access-token",
        "authorization",
        "Authorization",
        "Proxy-Authorization",
        "cookie",
        "Set-Cookie",
        "cookies",
        "password",
        "dbPassword",
        "passphrase",
        "secret",
        "client_secret",
        "secrets",
        "api_key",
        "apikey",
        "APIKey",
        "X-API-Key",
        "private_key",
        "credentials",
    ],
)
def test_the_value_of_a_secret_key_is_blanked(key: str) -> None:
    assert SECRET not in written(**{key: SECRET})
    assert SECRET not in written(deep={"list": [{key: {"inner": SECRET}}]})
    assert SECRET not in written(headers=[(key, SECRET), (key.encode(), SECRET.encode())])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tokens", 512),
        ("max_tokens", 4096),
        ("token_count", 3),
        ("tokenizer", "words"),
        ("key", "left"),
        ("keys", ["a"]),
        ("cookie", None),
        ("secretary", "Ada"),
        ("event", "the token is wrong"),
        ("event", "unexpected token: brace"),
        ("event", "a bearer of news, a basic understanding"),
    ],
)
def test_what_only_sounds_secret_is_kept(key: str, value: object) -> None:
    assert json.loads(written(**{key: value})) == {key: value}


def test_a_number_that_is_a_password_is_blanked() -> None:
    assert is_secret("password", 1234)


class Session(msgspec.Struct):
    token: str
    turn: int


@pytest.mark.parametrize(
    "value",
    [
        f"GET /socket?token={SECRET}&room=1",
        f"ws://localhost:5163/?room=1&access_token={SECRET}#top",
        f"https://me:{SECRET}@localhost/x",
        f"Authorization: Bearer {SECRET}",
        f"authorization: Basic {SECRET}",
        f"Cookie: a={SECRET}; b={SECRET}",
        f"sent Bearer {SECRET} to them",
        f"{{'token': '{SECRET}', 'n': 1}}",
        json.dumps({"apiKey": SECRET}),
        json.dumps({"token": f'"{SECRET}'}),
        f"[(b'authorization', b'{SECRET}')]",
        f"token={SECRET}",
        f'password="{SECRET}',
        Session(SECRET, 3),
        ValueError(f"bad header Authorization: {SECRET}"),
        MappingProxyType({"token": SECRET}),
        f"token={SECRET}".encode(),
    ],
    ids=str,
)
def test_a_secret_inside_a_text_is_blanked(value: object) -> None:
    for line in (written(event=value), written(exception=f"Traceback\n  {value}\n"), written(deep=[{"x": value}])):
        assert SECRET not in line
        assert BLANK in line


def test_what_stands_around_a_secret_is_kept() -> None:
    assert clean(f"GET /socket?token={SECRET}&room=1 from 127.0.0.1") == "GET /socket?token=***&room=1 from 127.0.0.1"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("one\ntwo\r", "one\\ntwo\\r"),
        ("\ud800", "\\ud800"),
        ("\u202egnorw", "\\u202egnorw"),
        ("🦜 é 編", "🦜 é 編"),
    ],
)
def test_a_strangers_text_cannot_steer_a_terminal(text: str, printed: str) -> None:
    assert clean(text) == printed
    assert blank_secrets(None, "", {"exception": f"a\n{text}"})["exception"].startswith("a\n")


def test_what_is_long_or_deep_or_odd_has_a_limit() -> None:
    deep: Any = 1
    for _ in range(1000):
        deep = [deep]
    assert len(str(clean(deep))) < 50
    assert len(str(clean("x" * 10**6))) <= LONGEST_TEXT + 1
    assert len(str(clean(b"x" * 10**6))) <= LONGEST_TEXT + 1
    assert len(list(clean(list(range(10**5))))) == MOST_ITEMS  # type: ignore[call-overload]
    assert clean(10**40) == str(10**40)
    assert len(written(exception="a line\n" * 10**5)) < 50_000


def test_an_object_that_cannot_be_printed_is_named() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert clean(Odd()) == "<Odd that cannot be printed>"


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
NESTED = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.slow
@hypothesis.settings(deadline=None)
@given(st.dictionaries(st.text(), NESTED, max_size=3))
def test_whatever_is_logged_can_be_encoded(entry: dict[str, object]) -> None:
    msgspec.json.encode(blank_secrets(None, "", entry))
