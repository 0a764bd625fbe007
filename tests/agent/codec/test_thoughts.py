import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.answering import LIMITS, Tally
from codec.agent.models import Delta, SaidText, SaidThought
from codec.agent.thoughts import Thoughts


def told(pieces: list[str]) -> tuple[str, str]:
    thoughts = Thoughts(Tally("It", LIMITS))
    found: list[Delta] = [delta for piece in pieces for delta in thoughts.feed(piece)] + thoughts.end()
    assert all(delta.text for delta in found if isinstance(delta, SaidText | SaidThought))
    thought = "".join(delta.text for delta in found if isinstance(delta, SaidThought))
    return thought, "".join(delta.text for delta in found if isinstance(delta, SaidText))


CASES = [
    ("<think>hm</think>yes", "hm", "yes"),
    ("\n <think>hm\n</think>\n\nyes", "hm\n", "yes"),
    ("<think></think>yes", "", "yes"),
    ("<think>never ends </thin", "never ends </thin", ""),
    ("a <think>b</think> c", "", "a <think>b</think> c"),
    ("<thin", "", "<thin"),
    ("<think", "", "<think"),
    ("<b>bold</b>", "", "<b>bold</b>"),
    ("  ", "", "  "),
    ("<think>a</think>b<think>c</think>", "a", "b<think>c</think>"),
    ("<think>1 < 2 </ 3</think>so", "1 < 2 </ 3", "so"),
]


@pytest.mark.parametrize(("text", "thought", "said"), CASES, ids=[case[0] for case in CASES])
def test_a_thought_is_told_from_the_answer_at_every_cut(text: str, thought: str, said: str) -> None:
    assert told([text]) == (thought, said)
    assert told(list(text)) == (thought, said)
    for place in range(len(text)):
        assert told([text[:place], text[place:]]) == (thought, said)


@given(st.text(max_size=40).filter(lambda text: not text.lstrip().startswith("<think>")))
def test_an_answer_without_a_thought_stays_as_it_is(text: str) -> None:
    assert told(list(text)) == ("", text)
