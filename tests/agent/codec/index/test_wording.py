"""What of a question stands in a text word for word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.index.question import CARRY_NOTHING, MOST_TEXT
from codec.agent.index.wording import MOST_QUOTED, MOST_WINDOWS, WIDE, AskedWording, word_for_word, wording_of

WORDS = ("pool", "cart", "total", "socket", "closed", "empty", "basket", "reader", "shelf", "door")
LINES = st.lists(st.sampled_from(WORDS), min_size=WIDE, unique=True).map(" ".join)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('"is not in the list"', ("is not in the list",)),
        ("“Cart is empty.”", ("cart is empty",)),
        ("`raise Empty`", ("raise empty",)),
        ('"the cart", "the pool"', ("the cart", "the pool")),
        ('"the cart" "The Cart"', ("the cart",)),
        ('where is "the cart is empty" raised', ()),  # told about, not asked for
        ("`Pool.close`", ()),  # a name
        ('"cart"', ()),
        ('"the cart', ()),
        ('""', ()),
        (f'"a {"x" * 101}"', ()),
    ],
)
def test_what_a_question_of_nothing_but_quotes_must_find(text: str, quoted: tuple[str, ...]) -> None:
    assert wording_of(text).quoted == quoted


@pytest.mark.parametrize(
    ("text", "windows"),
    [
        ("The cart of user 7 is empty.", ("the cart of user", "cart of user 7", "of user 7 is", "user 7 is empty")),
        ("ValueError: bad port", ()),  # three words are found by themselves
        ("if cart_total(pool.size): close", ("if cart total pool", "cart total pool size", "total pool size close")),
        ("the_cart_of_pool_total Reader.socket_of_shelf_is_closed", ()),  # names
        ("it is to be in the cart", ()),  # anybody writes so
        ('see "of the" cart', ("of the", "see of the cart")),  # but it is in quotes
        ("cart and pool\nsocket and door", ()),  # of two lines
        (f"cart pool {'x' * 101} total", ()),
    ],
)
def test_four_words_in_a_row_count_together(text: str, windows: tuple[str, ...]) -> None:
    assert wording_of(text).windows == windows


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from((*WORDS, *sorted(CARRY_NOTHING)[:9], '"', "`", "\n"))).map(" ".join)
)
def test_any_text_has_a_wording(text: str) -> None:
    wording = wording_of(text)
    assert len(wording.quoted) <= MOST_QUOTED
    assert len(wording.windows) <= MOST_WINDOWS
    assert all(each.split() for each in (*wording.quoted, *wording.windows))
    assert wording == wording_of(text)
    assert all(0 < same.worth <= 1 for same in word_for_word(wording, {1: text, 2: text[::-1]}).values())


def test_of_a_long_text_both_ends_are_read() -> None:
    words = [f"w{number}" for number in range(MOST_TEXT)]
    windows = wording_of(" ".join(words)).windows
    assert len(windows) == MOST_WINDOWS
    assert (windows[0], windows[-1]) == (" ".join(words[:WIDE]), " ".join(words[-WIDE:]))


@given(LINES, st.lists(LINES, max_size=3))
def test_who_has_a_line_whole_has_more_of_it_than_who_lacks_a_part(line: str, others: list[str]) -> None:
    wording = wording_of(line)
    written = f'raise Error(\n    "{line.title().replace(" ", ", ", 1)}"\n)'
    texts = {0: written, **{at: other for at, other in enumerate(others, 1) if line not in other}}
    found = word_for_word(wording, texts)
    assert found[0].longest == line
    lacking = [same.worth for number, same in found.items() if number]
    assert all(found[0].worth > worth for worth in lacking if len(wording.windows) > 1)


def test_what_many_have_counts_less_and_what_nobody_has_not_at_all() -> None:
    wording = AskedWording(windows=("the cart is empty", "cart is empty now"))
    found = word_for_word(wording, {1: "The cart is empty now.", 2: "the cart_is empty", 3: "the cart is nearly empty"})
    assert {number: (round(same.worth, 3), same.longest) for number, same in found.items()} == {
        1: (0.694, "the cart is empty now"),  # one of its own, and one that two share: 1 - 0.5 ** (1 + 1 / sqrt(2))
        2: (0.387, "the cart is empty"),
    }
    apart = AskedWording(windows=("a b c d", "e f g h"))
    assert word_for_word(apart, {1: "a b c d e f g h"})[1].longest == "a b c d"


def test_other_letters_are_read_too() -> None:
    wording = wording_of("Корзина покупателя сегодня пуста")
    assert word_for_word(wording, {1: 'raise Пусто("Корзина покупателя сегодня пуста.")'})[1].worth == 0.5
