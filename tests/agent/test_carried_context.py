"""What an editor has shown before stays shown, until it says that it is no more."""

import pytest

from actors.agent.queueing import carried
from codec.agent.context import ActiveEditor, Diagnostic, EditorContext, Mention, OpenEditor, TerminalOutput


def test_an_error_that_was_mended_is_not_told_beside_open_editors_that_show_none() -> None:
    before = EditorContext(
        active_editor=ActiveEditor(file_path="a.py"),
        diagnostics=(Diagnostic(file_path="a.py", message="odd"),),
        terminal_output=TerminalOutput(command="pytest"),
    )
    after = carried(before, EditorContext(open_editors=(OpenEditor(file_path="b.py"),)))
    assert (after.active_editor, after.diagnostics) == (None, ())
    assert after.terminal_output == before.terminal_output


@pytest.mark.parametrize(
    "now", [EditorContext(), EditorContext(command="/fix"), EditorContext(mentions=(Mention(type="file", path="a"),))]
)
def test_a_message_without_an_editor_leaves_what_was_shown_before(now: EditorContext) -> None:
    before = EditorContext(
        active_editor=ActiveEditor(file_path="a.py"),
        diagnostics=(Diagnostic(file_path="a.py", message="odd"),),
        terminal_output=TerminalOutput(command="pytest"),
    )
    after = carried(before, now)
    assert (after.active_editor, after.diagnostics, after.terminal_output) == (
        before.active_editor,
        before.diagnostics,
        before.terminal_output,
    )
