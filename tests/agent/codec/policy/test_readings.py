"""Which commands show a file of settings, so that its values are withheld from what they print."""

import shlex

import pytest

from codec.agent.policy import shows_settings

SHOWING = [
    "cat .env",
    "cat ./app/.env.local",
    "/bin/cat .env",
    "cat production.env",
    "cat a.py .npmrc b.py",
    "head -n 3 ~/.netrc",
    "grep KEY .env",
    "git show HEAD:.env",
    "git diff -- .env",
    "sudo cat .env",
    "sh -c 'cat .env'",
    "find . -exec cat .env ;",
    "sort --files=.env",
    'cat .en"v"',
    "cat '.env'",
    "cat .e\\nv",
    "cat .{env,x}",
    "cat .e*",
    "cat .en?",
    "cat [.]env",
    "cat ?env",
    "cat sub/.npm*",
    "cat .[e]nv.local",
    "cat .pyp*",
    "cat .netr?",
]
LINES = ["cat<.env", "true; cat .env", "cat < .env | sort", "echo $(cat .env)", "(cat .env)", "cat x&&cat .env"]
NOT_SHOWING = [
    "cat a.py",
    "cat .env.example",
    "cat environment",
    "cat *.py",
    "cat *env",
    "cat *",
    "head a?env",
    "cat .[a-z]it",
    "cat a*.env.d",
    "cat [a]bc",
    "cat .gitignore",
    "rm .env",
    "npm test .env",
    "./run .env",
    "cat",
    "",
]


@pytest.mark.parametrize("line", [*SHOWING, *LINES])
def test_a_line_that_shows_a_file_of_settings_is_known_however_it_names_it(line: str) -> None:
    assert shows_settings(line) is True


@pytest.mark.parametrize("line", NOT_SHOWING)
def test_other_commands_show_none(line: str) -> None:
    assert shows_settings(line) is False
    assert shows_settings(tuple(shlex.split(line))) is False


@pytest.mark.parametrize("line", SHOWING)
def test_the_same_words_show_the_same_without_a_shell(line: str) -> None:
    assert shows_settings(tuple(shlex.split(line))) is True
