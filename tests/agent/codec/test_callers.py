"""By which name it is told who has done something, and how that is said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.callers import caller, done_by


@pytest.mark.parametrize(
    ("user_agent", "name", "words"),
    [
        (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML) Chrome/140.0 Safari/537.36",
            "web",
            " in a browser",
        ),
        ("troupe", "troupe", " at the command line"),
        ("vscode-extension/0.1.0", "vscode-extension", " by vscode-extension"),
        ("curl/8.5.0", "curl", " by curl"),
        ("troupers/1", "troupers", " by troupers"),
        ("", "", ""),
        (" a space comes first", "", ""),
        ("(a comment)", "", ""),
    ],
)
def test_who_asks_over_http_is_told_by_its_own_name(user_agent: str, name: str, words: str) -> None:
    assert caller(user_agent) == name
    assert done_by(name) == words


def test_our_commands_are_one_place_for_the_reader() -> None:
    assert done_by("troupe ask") == done_by("troupe")


@given(st.text())
def test_no_name_is_long_or_moves_anything(user_agent: str) -> None:
    name = caller(user_agent)
    assert len(name) <= 100
    assert name.isascii()
    assert not name or name.isprintable()
