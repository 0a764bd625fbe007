"""What an editor has shown before stays shown, until it says that it is no more."""

from typing import Any

import msgspec
import pytest

from actors.agent.queueing import carried
from codec.agent.context import (
    ActiveEditor,
    ContextChange,
    Diagnostic,
    EditorContext,
    GitContext,
    Mention,
    OpenEditor,
    SaidContext,
    TerminalOutput,
    changed,
)


def test_an_error_that_was_mended_is_not_told_beside_open_editors_that_show_none() -> None:
    before = EditorContext(
        active_editor=ActiveEditor(file_path="a.py"),
        diagnostics=(Diagnostic(file_path="a.py", message="odd"),),
        terminal_output=TerminalOutput(command="pytest"),
    )
    after = carried(before, SaidContext(open_editors=(OpenEditor(file_path="b.py"),)))
    assert (after.active_editor, after.diagnostics) == (None, ())
    assert after.terminal_output == before.terminal_output


@pytest.mark.parametrize(
    "now", [SaidContext(), SaidContext(command="/fix"), SaidContext(mentions=(Mention(type="file", path="a"),))]
)
def test_a_message_without_an_editor_leaves_what_was_shown_before(now: SaidContext) -> None:
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


FULL = EditorContext(
    active_editor=ActiveEditor(file_path="a.py"),
    open_editors=(OpenEditor(file_path="a.py"),),
    diagnostics=(Diagnostic(file_path="a.py", message="odd"),),
    terminal_output=TerminalOutput(command="pytest"),
    git_context=GitContext(branch="main"),
    mentions=(Mention(type="file", path="a.py"),),
)


@pytest.mark.parametrize("name", ContextChange.__struct_fields__)
@pytest.mark.parametrize("gone", [None, []], ids=["null", "empty"])
def test_what_an_editor_says_is_gone_is_gone_and_what_it_does_not_say_stays(name: str, gone: Any) -> None:
    is_list = isinstance(getattr(FULL, name), tuple)
    if gone == [] and not is_list:
        return
    body = msgspec.json.encode({name: gone})
    others = [each for each in ContextChange.__struct_fields__ if each != name]
    after = changed(FULL, msgspec.json.decode(body, type=ContextChange))
    assert not getattr(after, name)
    assert [getattr(after, each) for each in others] == [getattr(FULL, each) for each in others]
    said = carried(FULL, msgspec.json.decode(body, type=SaidContext))
    assert not getattr(said, name)
    shared = [each for each in others if each != "mentions"]
    assert [getattr(said, each) for each in shared] == [getattr(FULL, each) for each in shared]


def test_closing_all_editors_leaves_none_open() -> None:
    body = b'{"open_editors": [], "active_editor": null, "diagnostics": []}'
    after = carried(FULL, msgspec.json.decode(body, type=SaidContext))
    assert (after.active_editor, after.open_editors, after.diagnostics) == (None, (), ())
    assert after.git_context == FULL.git_context
