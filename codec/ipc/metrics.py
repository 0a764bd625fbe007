"""How close an answer comes to its reference: BLEU, ROUGE and Jaccard, each from 0 to 1.

The figures are those of the programs that people compare with: BLEU is NLTK's `sentence_bleu` with smoothing method 4
on words between blanks, ROUGE is the F of the package `rouge`, Jaccard is that of the two sets of words. A text without
words scores 0 against every other; the packages raise an error there.

ROUGE-L compares every word with every word, so texts are cut after `MOST_WORDS`, and the scores say so.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

MOST_WORDS = 2_000
"""Words of each text that ROUGE-L looks at: four million comparisons take half a second."""

_BLEU_ORDERS = 4
_SMOOTHING = 5
"""The `k` of NLTK's method 4."""
_NEARLY_NOTHING = 1e-8
"""The package `rouge` adds it to a sum that may be 0, and its figures show that."""


class Scores(Struct, frozen=True, kw_only=True):
    bleu: float
    rouge_1: float
    rouge_2: float
    rouge_l: float
    jaccard: float
    words: int
    reference_words: int
    cut: bool = False
    """One of the texts has more words than ROUGE-L looks at."""


def scores(answer: str, reference: str) -> Scores:
    words, expected = answer.split(), reference.split()
    return Scores(
        bleu=bleu(words, expected),
        rouge_1=rouge_n(answer, reference, 1),
        rouge_2=rouge_n(answer, reference, 2),
        rouge_l=rouge_l(answer, reference),
        jaccard=jaccard(words, expected),
        words=len(words),
        reference_words=len(expected),
        cut=max(len(words), len(expected)) > MOST_WORDS,
    )


def jaccard(words: Iterable[str], expected: Iterable[str]) -> float:
    here, there = set(words), set(expected)
    together = here | there
    return len(here & there) / len(together) if together else 1.0


# -- BLEU


def bleu(words: Sequence[str], expected: Sequence[str]) -> float:
    precisions = [_precision(words, expected, order) for order in range(1, _BLEU_ORDERS + 1)]
    if precisions[0][0] == 0:
        return 0.0
    logarithms = [math.log(precision) for precision in _smoothed(precisions, len(words)) if precision > 0]
    return _brevity(len(words), len(expected)) * math.exp(math.fsum(each / _BLEU_ORDERS for each in logarithms))


def _precision(words: Sequence[str], expected: Sequence[str], order: int) -> tuple[int, int]:
    """How many of the n-grams of this order stand in the reference too, and how many there are."""
    here, there = Counter(_ngrams(words, order)), Counter(_ngrams(expected, order))
    return sum((here & there).values()), max(1, here.total())


def _smoothed(precisions: Iterable[tuple[int, int]], length: int) -> Iterator[float]:
    """An order of which nothing was found counts a little, less the shorter the text is."""
    nothing_found = 0
    for found, count in precisions:
        if found or length <= 1:
            yield found / count
        else:
            nothing_found += 1
            yield math.log(length) / (2**nothing_found * _SMOOTHING) / count


def _brevity(length: int, expected: int) -> float:
    """A text that is shorter than its reference has left something out, and precision alone does not see that."""
    return 1.0 if length > expected else math.exp(1 - expected / length)


# -- ROUGE


def rouge_n(answer: str, reference: str, order: int) -> float:
    here, there = (
        set(_ngrams([word for sentence in _sentences(text) for word in sentence], order))
        for text in (answer, reference)
    )
    return _f(len(here & there), len(here), len(there))


def rouge_l(answer: str, reference: str) -> float:
    here, there = _sentences(answer, MOST_WORDS), _sentences(reference, MOST_WORDS)
    found = {word for expected in there for words in here for word in _common(expected, words)}
    return _f(len(found), *(len({word for sentence in text for word in sentence}) for text in (here, there)))


def _sentences(text: str, most: int | None = None) -> list[list[str]]:
    """Their words. Two full stops with nothing between them make no sentence; with a blank, one of an empty word."""
    sentences, left = [], math.inf if most is None else most
    for sentence in text.split("."):
        if sentence and left > 0:
            words = sentence.split() or [""]
            sentences.append(words if left == math.inf else words[: int(left)])
            left -= len(words)
    return sentences


def _common(x: Sequence[str], y: Sequence[str]) -> Iterator[str]:
    """A longest common subsequence; of several, the one that `rouge` finds."""
    table = [[0] * (len(y) + 1)]
    for word in x:
        above, row = table[-1], [0]
        for j, other in enumerate(y):
            row.append(above[j] + 1 if word == other else max(above[j + 1], row[j]))
        table.append(row)
    i, j = len(x), len(y)
    while i and j:
        if x[i - 1] == y[j - 1]:
            i, j = i - 1, j - 1
            yield x[i]
        elif table[i - 1][j] > table[i][j - 1]:
            i -= 1
        else:
            j -= 1


def _f(found: int, here: int, there: int) -> float:
    precision, recall = (found / count if count else 0.0 for count in (here, there))
    return 2.0 * (precision * recall / (precision + recall + _NEARLY_NOTHING))


def _ngrams(words: Sequence[str], order: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(order)), strict=False)
