"""The files that a message names, and the code around what the editor reports."""

import pytest

from actors.agent.prompt import readings, with_named
from codec.agent.context import Diagnostic, EditorContext, Mention


@pytest.mark.parametrize(
    ("message", "paths"),
    [
        ("explain @src/main.py please", ["src/main.py"]),
        ("Look at @src/main.py.", ["src/main.py"]),
        ("/explain @src/a.py, and @b.toml", ["src/a.py", "b.toml"]),
        ("@.github/workflows/ci.yml fails", [".github/workflows/ci.yml"]),
        ("@src/a.py @src/a.py", ["src/a.py"]),
        ("what does @property do, and @staticmethod?", []),
        ("mail me@example.org", []),
        ("nobody is named", []),
    ],
)
def test_a_file_that_the_message_names_is_read_whoever_sent_it(message: str, paths: list[str]) -> None:
    context = with_named(message, EditorContext())
    assert [each.path for each in context.mentions] == paths
    assert [each.path for each in readings(context, None)] == paths


def test_a_file_that_the_client_has_found_is_named_once() -> None:
    context = EditorContext(mentions=(Mention(type="file", path="src/main.py"),))
    assert with_named("explain @src/main.py", context) == context


def test_code_is_shown_around_errors_and_warnings_and_not_around_hints() -> None:
    found = tuple(
        Diagnostic(file_path=f"{severity}.py", message="odd", severity=severity)
        for severity in ("hint", "unknown", "info", "error", "warning")
    )
    assert [each.path for each in readings(EditorContext(diagnostics=found), None)] == ["error.py", "warning.py"]
