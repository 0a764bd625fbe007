"""The arguments of a call, as they are kept and shown: whole as long as they are short enough, and never longer."""

from typing import Any

import pytest

from actors.agent.calling import LONGEST_ARGUMENTS, SHOWN_OF_ARGUMENTS, CallLimits, Calls, _encoded
from actors.agent.hand_tools import HAND_TOOLS
from codec.agent.models import ToolCall


def kept(arguments: Any, *, hands: bool) -> Any:
    nobody: Any = None
    acting: Any = object() if hands else None
    calls = Calls("t1", nobody, nobody, CallLimits(), acting)
    name = next(iter(HAND_TOOLS)) if hands else "read_file"
    call = calls.taken(ToolCall(id="of the model", name=name, arguments=arguments))
    assert call.id == "t1.1"
    return call.arguments


def of_length(length: int) -> dict[str, Any]:
    """Of many short values, of which none can be cut."""
    made = {f"{number:05}": "x" * 80 for number in range(length // 92)}
    made["last"] = ""
    made["last"] = "x" * (length - len(_encoded(made)))
    assert len(_encoded(made)) == length
    return made


@pytest.mark.parametrize("hands", [True, False])
@pytest.mark.parametrize("more", [0, 1])
def test_arguments_are_kept_whole_up_to_their_limit_and_else_their_beginning_is(hands: bool, more: int) -> None:
    arguments = of_length(LONGEST_ARGUMENTS + more)
    shown = _encoded(arguments)[:SHOWN_OF_ARGUMENTS]
    assert kept(arguments, hands=hands) == (shown if more else arguments)


@pytest.mark.parametrize("more", [0, 1])
def test_of_a_call_with_hands_long_texts_are_cut_and_the_rest_is_kept_if_it_is_short_enough_then(more: int) -> None:
    arguments = of_length(LONGEST_ARGUMENTS - 1_200) | {"text": "y" * 50_000, "more": ""}
    cut = kept(arguments, hands=True)
    assert {**cut, "text": ""} == {**arguments, "text": ""}
    arguments["more"] = "z" * (LONGEST_ARGUMENTS - len(_encoded(cut)) + more)
    found = kept(arguments, hands=True)
    assert isinstance(found, str if more else dict)
    assert len(_encoded(found)) <= LONGEST_ARGUMENTS
