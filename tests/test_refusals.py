"""Messages for users are written for users: they name no actor by its path, and no internals of the server."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.judge.intake import TooMuchPosted
from actors.kernel import (
    ActorDown,
    KernelError,
    Mailbox,
    MailboxFull,
    NameTaken,
    NobodyThere,
    Stop,
    TooManyChildren,
    Why,
    errors,
    in_words,
)

ROOT = Path(__file__).parents[1]
OURS = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, KernelError)]
INSIDE = ("mailbox", "send(", "actor", "child", "slot", "supervisor", "/")


@pytest.mark.parametrize("error", [one for one in OURS if one is not KernelError], ids=lambda one: one.__name__)
def test_each_error_of_the_kernel_is_told_in_words(error: type[KernelError]) -> None:
    assert error.told is not None
    assert "; " in error.told  # what it is, and what to do
    assert not [word for word in INSIDE if word in error.told]


def test_what_users_are_told_of_an_error_is_not_what_the_log_says() -> None:
    box: Mailbox[int] = Mailbox(1)
    box.name = "sidekick/rooms/default"
    box.put_nowait(1)
    with pytest.raises(MailboxFull) as full:
        box.put_nowait(2)
    raised = [
        full.value,
        ActorDown("troupe/judge/runs/7", Stop(Why.KILLED)),
        TooManyChildren("troupe/sidekick/rooms has 2048 children, which is all it may have"),
        NameTaken("troupe/judge/problems/a exists already; a child's id must be unique within its supervisor"),
        NobodyThere("sidekick/rooms is not running at the moment"),
    ]
    for error in raised:
        assert not [word for word in INSIDE if word in in_words(error)]


def test_what_a_system_says_itself_is_told_as_it_is() -> None:
    assert in_words(TooMuchPosted("more was posted than")) == "more was posted than"
    assert in_words(ValueError("a year has no 13th month")) == "a year has no 13th month"


def shown(source: ast.AST) -> Iterator[int]:
    """Lines on which a kernel's error becomes text otherwise than by `in_words`."""
    for handler in ast.walk(source):
        if not isinstance(handler, ast.ExceptHandler) or handler.name is None or handler.type is None:
            continue
        if "KernelError" not in ast.unparse(handler.type):
            continue
        for node in ast.walk(handler):
            match node:
                case ast.FormattedValue(value=ast.Name(id=name)) | ast.Call(
                    func=ast.Name(id="str"), args=[ast.Name(id=name)]
                ) if name == handler.name:
                    yield node.lineno


def test_no_error_of_the_kernel_is_shown_as_the_log_has_it() -> None:
    rooms = [path for room in ("actors", "transports", "program", "systems") for path in (ROOT / room).rglob("*.py")]
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in rooms
        if not path.is_relative_to(ROOT / "actors" / "kernel")
        for line in shown(ast.parse(path.read_text()))
    ]
    assert found == []
    assert sorted(shown(ast.parse('try: pass\nexcept KernelError as e:\n    say(f"{e}")\n    say(str(e))'))) == [3, 4]
