"""The files that a message names, and the code around what the editor reports."""

import pytest

from actors.agent.prompt import command_of, readings, with_named
from codec.agent.context import ActiveEditor, Diagnostic, EditorContext, Mention


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


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("/explain src/main.py", [("src/main.py", 1)]),
        ("What does src/main.py:42 do?", [("src/main.py", 42)]),
        ('File "src/main.py", line 42, in f', [("src/main.py", 42)]),
        ("What is in line 42 of src/main.py?", [("src/main.py", 42)]),
        ("src/main.ts(42,7): error TS1", [("src/main.ts", 42)]),
        ("".join(f"src/m{n}.py:{n}\n" for n in range(1, 9)), [(f"src/m{n}.py", n) for n in (1, 2, 3, 7, 8)]),
        ("why is main.py slow, and .github/workflows/ci.yml not?", [("main.py", 1), (".github/workflows/ci.yml", 1)]),
        ("see https://example.org/a/b.html and me@example.org", []),
        ("@src/main.py and src/main.py", [("src/main.py", 1)]),
        ("and/or, 1.5 and so on", []),
    ],
)
def test_a_file_whose_path_is_written_is_read_before_what_the_editor_shows(
    message: str, named: list[tuple[str, int]]
) -> None:
    context = EditorContext(active_editor=ActiveEditor(file_path="open.py", language="python"))
    found = readings(with_named(message, context), command_of(message, context))
    assert [(each.path, each.first) for each in found if each.path != "open.py"] == named
    assert found[-1 if "@" not in message or not named else 0].path == "open.py"


def test_only_an_explanation_of_a_path_tells_that_it_cannot_be_read() -> None:
    for message, told in (("/explain src/gone.py", True), ("make src/gone.py", False), ("/explain e.g. that", False)):
        found = readings(with_named(message, EditorContext()), command_of(message, EditorContext()))
        assert [each.asked_for for each in found] == [told] * len(found)


def test_code_is_shown_around_errors_and_warnings_and_not_around_hints() -> None:
    found = tuple(
        Diagnostic(file_path=f"{severity}.py", message="odd", severity=severity)
        for severity in ("hint", "unknown", "info", "error", "warning")
    )
    assert [each.path for each in readings(EditorContext(diagnostics=found), None)] == ["error.py", "warning.py"]
