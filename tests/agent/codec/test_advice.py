"""What a model is told is shown to people without what only a model makes use of."""

import pytest
from msgspec.structs import replace

from actors.agent.outcomes import refusal_words
from actors.agent.replacing import state
from codec.agent.advice import EVERY, for_people
from codec.agent.approvals import Resolution
from codec.words import lasting
from tests.agent.session_kit import patch


@pytest.mark.parametrize(
    "resolution", [Resolution(approved=False), Resolution(approved=False, ended="timed_out")], ids=["refused", "late"]
)
def test_how_to_go_on_is_left_out_and_what_has_happened_stays(resolution: Resolution) -> None:
    words = refusal_words(replace(patch("p"), resolution=resolution))
    shown = for_people(f"a.py: {words} {state(b'x')}")
    assert shown == f"a.py: {words.partition('. ')[0]}."
    assert not [each for each in EVERY if each in shown]


def test_what_a_user_has_said_stays() -> None:
    told = "a.py: the user refused it and says: Go on with b.py. It has 2 lines now."
    assert for_people(told) == told


@pytest.mark.parametrize(
    ("number", "told"), [(1, "1 second"), (1.0, "1 second"), (0.5, "0.5 seconds"), (0, "0 seconds"), (90, "90 seconds")]
)
def test_a_time_is_told_in_the_right_number(number: float, told: str) -> None:
    assert lasting(number) == told
