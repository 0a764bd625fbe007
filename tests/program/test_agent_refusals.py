"""What `troupe ask` and `troupe sessions` say of words that they cannot take names only what they have."""

from pathlib import Path

import pytest

from program.arguments import read
from program.trouble import Trouble
from program.visiting import address


def test_no_server_is_looked_for_at_a_url_that_cannot_be_given(tmp_path: Path) -> None:
    with pytest.raises(Trouble) as trouble:
        address(None, tmp_path, "agent")
    assert "--state-dir" in str(trouble.value)
    assert "--url" not in str(trouble.value)


def test_commands_that_take_a_url_say_so(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="--state-dir or --url"):
        address(None, tmp_path)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["ask", " "], "expected a question, such as"),
        (["ask", "--session", "", "why?"], "expected the id of a session; `troupe sessions` lists them"),
        (["ask", "wh\udcff"], r"expected words and paths in UTF-8, got 'wh\udcff'"),
        (["ask", "--session", "\udcff", "why?"], r"expected words and paths in UTF-8, got '\udcff'"),
        (["ask", "--workspace", "/a\udcff", "why?"], r"expected words and paths in UTF-8, got '/a\udcff'"),
        (["search", "one", "t\udcff"], r"expected words and paths in UTF-8, got 'one t\udcff'"),
        (["search", "--workspace", "/a\udcff", "x"], r"expected words and paths in UTF-8, got '/a\udcff'"),
        (["sessions", "--workspace", "/a\udcff"], r"expected words and paths in UTF-8, got '/a\udcff'"),
    ],
)
def test_a_word_that_cannot_be_taken_is_refused_by_the_name_of_what_is_missing(
    words: list[str], wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        read(words)
    assert wanted in capsys.readouterr().err
