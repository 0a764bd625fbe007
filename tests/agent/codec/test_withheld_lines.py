"""Only lines that may hold a secret are looked at. What comes of it is what comes of looking at all of them."""

import sys

from hypothesis import example, given
from hypothesis import strategies as st

from codec.agent.secret_values import names_secret
from codec.agent.withheld import _by_lines, _closer, _line
from codec.agent.withheld_across import across

NAMES = [
    *("token", "TOKENS", "Password", "passwd", "passphrase", "pass_phrase", "authorization", "cookies", "credential"),
    *("apikey", "api_key", "API-KEYS", "secretKey", "access.key", "role_key", "client-key-data", "SECRET_KEY_BASE"),
    *("db_pass", "pwd", "user_pwd", "key", "primary_key", "token_count", "passw", "keyboard", "api9key", "apiékey"),
]
SIGNS = [" = ", ": ", "='", '="', "--", "#define ", "<", ">", "</", "name: ", "value: "]
WORDS = [*NAMES, *SIGNS, "abc123def456", "ghp_0123"]
OTHERS = [
    "\n",
    "\r\n",
    "",
    " ",
    "İ",
    "ß",
    "Bearer ",
    "basic ",
    "0123456789abcdef0123",
    "'",
    '"',
    ",",
    "(",
    "\\",
    "x" * 30,
    "\u2028",
]
PIECES = st.sampled_from(WORDS + OTHERS)
PATHS = st.sampled_from(["", "a.py", "a.ini", "a.properties", "a.xml", "Makefile"])


@given(st.lists(PIECES, max_size=40).map("".join), PATHS)
@example("password:\n  abc123def456", "")
def test_lines_that_are_passed_over_hold_nothing(text: str, path: str) -> None:
    assert _by_lines(text, _closer(text), path) == "\n".join(_line(line, path) for line in text.split("\n"))
    assert across(text, path, _closer(text)) == across(text, path, _all(text))


@given(st.lists(st.sampled_from([*NAMES, "_", "-", ".", "/", ":", "x", "X", "2", "é", "s"]), max_size=5).map("".join))
def test_a_line_with_a_name_of_a_secret_is_looked_at(name: str) -> None:
    assert _closer(f"a {name}= b") or not names_secret(name, "?")


def test_one_letter_alone_is_two_when_it_is_small() -> None:
    assert [each for each in map(chr, range(sys.maxunicode + 1)) if len(each.lower()) != 1] == ["İ"]


def _all(text: str) -> dict[int, int]:
    ends: dict[int, int] = {}
    begin = 0
    for line in text.split("\n"):
        ends[begin] = begin + len(line)
        begin += len(line) + 1
    return ends
