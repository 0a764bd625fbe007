from urllib.parse import quote_plus

import pytest

from codec.agent.index.asking import LONGEST_QUERY
from program.commands.agent_search import LONGEST_ADDRESS, end_of


@pytest.mark.parametrize("letter", ["x", " ", "\n", "я", "漢", "💡"])
@pytest.mark.parametrize("count", [1, 499, 500, 501, 2_000, 2_001, 100_000])
def test_of_a_text_that_is_too_long_for_a_question_the_most_of_its_end_is_searched_for(letter: str, count: int) -> None:
    end = end_of(letter * count)
    most = min(LONGEST_QUERY, LONGEST_ADDRESS // len(quote_plus(letter)))
    assert end == letter * min(count, most)
    assert end_of(f"a{letter * count}"[-most:] + "b").endswith("b")
