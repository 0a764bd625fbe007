"""Scores against the packages that people compare with, to nine places."""

import random

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from nltk.metrics.distance import jaccard_distance
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from rouge import Rouge

from codec.ipc import metrics, scores

WORDS = st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "The", "sat.", ".", "..", "dog,"])
TEXTS = st.lists(WORDS, max_size=25).map(" ".join) | st.text("ab. \n", max_size=40)
smoothing = SmoothingFunction().method4


ODD = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Z", "C")), max_size=60)
"""Blanks of all kinds, controls, letters beyond the BMP, right to left."""


def near(value: float) -> object:
    return pytest.approx(value, abs=1e-9)


@given(TEXTS, TEXTS)
@example("a", "a")
@example("a b", "b a")
@example("the cat sat on the mat", "the cat sat on a mat")
def test_bleu_and_jaccard_are_those_of_nltk(answer: str, reference: str) -> None:
    words, expected = answer.split(), reference.split()
    assume(words and expected)
    found = scores(answer, reference)
    assert found.bleu == near(sentence_bleu([expected], words, smoothing_function=smoothing))
    assert found.jaccard == near(1 - jaccard_distance(set(words), set(expected)))
    assert (found.words, found.reference_words) == (len(words), len(expected))


@given(TEXTS, TEXTS)
@example("a b. c d", "c d. a b")
@example("a . b", "b")
def test_rouge_is_that_of_its_package(answer: str, reference: str) -> None:
    assume(answer.strip(".") and reference.strip("."))
    (theirs,) = Rouge().get_scores(answer, reference)
    found = scores(answer, reference)
    assert (found.rouge_1, found.rouge_2, found.rouge_l) == tuple(
        near(theirs[each]["f"]) for each in ("rouge-1", "rouge-2", "rouge-l")
    )


@given(ODD, ODD)
@example("a\u2028b\u00a0c", "a b c")
@example("\ufeffthe cat", "the cat")
@example("a\0b. \x1c c", "a\0b")
@example("👩‍👩‍👧 é e\u0301", "é 👩‍👩‍👧")
def test_odd_texts_are_no_exception(answer: str, reference: str) -> None:
    words, expected = answer.split(), reference.split()
    assume(words and expected and answer.strip(".") and reference.strip("."))
    found = scores(answer, reference)
    assert found.bleu == near(sentence_bleu([expected], words, smoothing_function=smoothing))
    assert found.jaccard == near(1 - jaccard_distance(set(words), set(expected)))
    (theirs,) = Rouge().get_scores(answer, reference)
    assert (found.rouge_1, found.rouge_2, found.rouge_l) == tuple(
        near(theirs[each]["f"]) for each in ("rouge-1", "rouge-2", "rouge-l")
    )


@given(ODD | TEXTS, ODD | TEXTS)
def test_every_score_is_a_share_whatever_the_texts(answer: str, reference: str) -> None:
    found = scores(answer, reference)
    for each in (found.bleu, found.rouge_1, found.rouge_2, found.rouge_l, found.jaccard):
        assert 0.0 <= each <= 1.0 + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_large_texts_score_as_they_do_in_the_packages(seed: int) -> None:
    dice = random.Random(seed)
    vocabulary = [f"w{number}" for number in range(300)]

    def text(length: int) -> str:
        return " ".join(dice.choice(vocabulary) + ("." if dice.random() < 0.08 else "") for _ in range(length))

    answer, reference = text(1_500), text(dice.randrange(200, 1_900))
    found = scores(answer, reference)
    assert not found.cut
    words, expected = answer.split(), reference.split()
    assert found.bleu == near(sentence_bleu([expected], words, smoothing_function=smoothing))
    assert found.jaccard == near(1 - jaccard_distance(set(words), set(expected)))
    (theirs,) = Rouge().get_scores(answer, reference)
    assert (found.rouge_1, found.rouge_2, found.rouge_l) == tuple(
        near(theirs[each]["f"]) for each in ("rouge-1", "rouge-2", "rouge-l")
    )


@given(st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat"]), min_size=4).map(" ".join))
def test_a_text_is_nearest_to_itself(text: str) -> None:
    found = scores(text, text)
    assert (found.bleu, found.jaccard) == (near(1.0), 1.0)
    assert min(found.rouge_1, found.rouge_2, found.rouge_l) == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("empty", ["", " \n", "...", ". . ."])
def test_a_text_without_words_scores_nothing_against_one_that_has_some(empty: str) -> None:
    for found in (scores(empty, "the cat"), scores("the cat", empty)):
        assert (found.bleu, found.rouge_1, found.rouge_2, found.rouge_l, found.jaccard) == (0, 0, 0, 0, 0)


def test_long_texts_are_cut_for_what_compares_each_word_with_each_and_it_is_said() -> None:
    many = " ".join(str(number) for number in range(metrics.MOST_WORDS + 1))
    assert scores(many, "0 1 2").cut
    assert scores("0 1 2", many).cut
    assert not scores(many.rpartition(" ")[0], "0 1 2").cut
    assert scores(f"{many} end. the end", "the end").rouge_l == 0.0
