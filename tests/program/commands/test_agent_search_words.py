from urllib.parse import quote_plus

import pytest

from codec.agent.index.asking import LONGEST_QUERY
from program.commands.agent_search import LONGEST_ADDRESS, asked_words


@pytest.mark.parametrize("letter", ["x", " ", "\n", "я", "漢", "💡"])
@pytest.mark.parametrize("count", [1, 499, 500, 501, 1_998, 1_999, 2_000, 2_001, 100_000])
def test_of_a_text_that_is_too_long_for_a_question_the_most_of_both_its_ends_is_searched_for(
    letter: str, count: int
) -> None:
    words = "a" + letter * count + "b"
    text, left_out = asked_words(words)
    assert len(text) <= LONGEST_QUERY
    assert len(quote_plus(text)) <= LONGEST_ADDRESS
    if not left_out:
        assert text == words
        return
    first, last = text[: len(text) // 2], text[len(text) // 2 + 1 :]
    assert text == f"{first}\n{last}"
    assert (words.startswith(first), words.endswith(last)) == (True, True)
    assert left_out == f"Only the first {len(first):,} and the last {len(last):,} characters are searched for."
    more = len(quote_plus(text)) + 2 * len(quote_plus(letter))
    assert more > LONGEST_ADDRESS - 4 or len(text) + 2 > LONGEST_QUERY, "no more would fit"
