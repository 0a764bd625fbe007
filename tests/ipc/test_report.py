"""What a report counts, how far apart it finds two runs, and how it is written."""

import csv
import io
import json
import math
import random
import re
from collections.abc import Sequence
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from codec.ipc import Failure, Request, Success, Wishes, scores, write_request, write_response
from codec.ipc.evaluation import METRICS, Metrics, comparison, evaluation, write_evaluation
from codec.ipc.report import (
    MOST_PAIRS,
    Difference,
    Papers,
    Report,
    RunChosen,
    Tried,
    as_csv,
    as_json,
    interval,
    report,
    tried,
)
from codec.ipc.report_page import as_page

SHARES = st.floats(0, 1)
HOSTILE = ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "  =1", '"', "a,b", "<script>alert(1)</script>", "a&b", "'", "\n="]


def dice(seed: int = 1) -> "Draws":
    return Draws(seed)


class Draws:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def __call__(self, values: Sequence[float], count: int) -> Sequence[float]:
        return self._random.choices(values, k=count)


def scored(id: str, value: float, **more: object) -> Tried:  # noqa: A002
    metrics = Metrics(**dict.fromkeys(METRICS, value))
    return Tried(id=id, state="success", metrics=metrics, has_reference=True, **more)  # type: ignore[arg-type]


def of(name: str, *results: Tried, pattern: str = "") -> RunChosen:
    return RunChosen(name=name, tried=results, pattern=pattern)


RESULTS = st.lists(
    st.one_of(
        st.builds(scored, st.sampled_from("abcdefgh"), SHARES),
        st.builds(lambda name: Tried(id=name, state="failed", has_reference=True), st.sampled_from("abcdefgh")),
        st.builds(lambda name: Tried(id=name, state="unfinished"), st.sampled_from("abcdefgh")),
    ),
    max_size=10,
    unique_by=lambda each: each.id,
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(RESULTS, RESULTS, st.integers(1, 5), st.randoms(use_true_random=False))
def test_every_result_is_counted_once_however_often_it_is_met_and_in_whatever_order(
    first: list[Tried], second: list[Tried], times: int, order: random.Random
) -> None:
    """The original stored all results so far again after each one: 182 rows held 62."""
    cumulative = [each for length in range(len(second)) for each in second[: length + 1]] * times + second
    order.shuffle(cumulative)
    once = report([of("a", *first), of("b", *second)], dice(), "now")
    assert report([of("a", *first[::-1], *first), of("b", *cumulative)], dice(), "now") == once
    assert once.runs[1].n + once.runs[1].unfinished == len(second)


def test_a_failure_counts_as_nothing_and_the_mean_of_the_answered_stands_beside() -> None:
    results = [scored("a", 0.8), scored("b", 0.4), Tried(id="c", state="failed", has_reference=True)]
    results += [Tried(id="d", state="failed"), Tried(id="e", state="unfinished", has_reference=True)]
    results += [Tried(id="f", state="success", has_reference=True), Tried(id="g", state="success", seconds=3.0)]
    (run,) = report([of("a", *results)], dice(), "now").runs
    assert (run.n, run.succeeded, run.failed, run.unfinished) == (6, 4, 2, 1)
    assert (run.scored, run.not_evaluated, run.median_seconds) == (3, 1, 3.0)
    assert run.means == pytest.approx(dict.fromkeys(METRICS, 0.4))
    assert run.means_of_answered == pytest.approx(dict.fromkeys(METRICS, 0.6))


@pytest.mark.slow
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30), st.integers(0, 100))
@settings(max_examples=20, deadline=None)
def test_an_interval_holds_its_mean_and_is_the_same_for_the_same_seed(values: list[float], seed: int) -> None:
    low, high = interval(values, dice(seed))
    assert low is not None
    assert high is not None
    mean = math.fsum(values) / len(values)
    assert min(values) - 1e-12 <= low <= high <= max(values) + 1e-12
    assert (low, high) == interval(values, dice(seed))
    if len(set(values)) == 1:
        assert low == pytest.approx(mean)
        assert high == pytest.approx(mean)


@pytest.mark.slow
def test_the_bootstrap_agrees_with_the_normal_distribution_where_both_hold() -> None:
    luck = random.Random(7)
    values = [luck.gauss(0.1, 0.3) for _ in range(MOST_PAIRS)]
    drawn = interval(values, dice())
    computed = interval([*values, math.fsum(values) / len(values)], dice())
    for one, other in zip(drawn, computed, strict=True):
        assert one == pytest.approx(other, abs=0.002)


@pytest.mark.slow
def test_an_interval_holds_the_truth_nineteen_times_of_twenty() -> None:
    luck, held, rounds = random.Random(3), 0, 60
    for number in range(rounds):
        low, high = interval([luck.gauss(0.2, 0.5) for _ in range(40)], dice(number))
        assert low is not None
        assert high is not None
        held += low <= 0.2 <= high
    assert 0.85 <= held / rounds <= 1.0


def test_a_single_pair_has_no_interval() -> None:
    made = report([of("a", scored("x", 0.1)), of("b", scored("x", 0.3))], dice(), "now")
    (each, *_) = made.differences
    assert (each.pairs, each.low, each.high, each.apart) == (1, None, None, False)
    assert each.mean == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("first", "second", "paired_by", "pairs"),
    [
        (of("a", scored("x", 0.1), scored("y", 0.2)), of("b", scored("x", 0.3), scored("z", 0.2)), "id", 1),
        (
            of("a", scored("a-1", 0.1), scored("a-2", 0.2), pattern="a-*"),
            of("b", scored("b-1", 0.3), scored("b-2", 0.2), pattern="b-*"),
            "what the * of their patterns stands for",
            2,
        ),
        (
            of("a", scored("p", 0.1, asked="q1"), scored("q", 0.2, asked="q2")),
            of("b", scored("r", 0.3, asked="q1"), scored("s", 0.2, asked="q1")),
            "what was asked",
            1,
        ),
        (of("a", scored("p", 0.1)), of("b", scored("r", 0.3)), "id", 0),
    ],
)
def test_runs_are_paired_by_what_pairs_the_most(
    first: RunChosen, second: RunChosen, paired_by: str, pairs: int
) -> None:
    made = report([first, second], dice(), "now")
    assert made.paired_by == paired_by
    assert {each.pairs for each in made.differences} == ({pairs} if pairs else set())


def papers(answer: bytes | None, *, failed: bool = False, done: bool = False) -> Papers:
    request = Request(id="a", command="submitPrompt", wishes=Wishes(reference="the cat", submitter="me"))
    wanted = comparison(request, Success("the cat"))
    assert wanted is not None
    stands = evaluation(wanted, scores("the cat", "the cat"), duration=None, when="now")
    return Papers(
        request=write_request(request),
        response=answer,
        failed=answer if failed else None,
        evaluation=write_evaluation(stands) if done else None,
        seconds=4.0,
    )


GOOD, BAD = write_response("a", Success("the cat")), write_response("a", Failure("no"))


@pytest.mark.parametrize(
    ("of_it", "state", "is_scored"),
    [
        (papers(None), "unfinished", False),
        (papers(GOOD), "success", False),
        (papers(GOOD, done=True), "success", True),
        (papers(GOOD, failed=True, done=True), "success", True),  # some peers copy every failed try
        (papers(BAD), "unfinished", False),  # it is tried again
        (papers(BAD, failed=True), "failed", False),
        (papers(BAD, failed=True, done=True), "failed", False),  # of an answer before
        (papers(b"{torn"), "unfinished", False),
        (Papers(), "unfinished", False),
        (Papers(failed=b"{"), "failed", False),
    ],
)
def test_what_came_of_a_request_is_read_from_its_files(of_it: Papers, state: str, is_scored: bool) -> None:
    found = tried("a", of_it)
    assert (found.state, found.metrics is not None) == (state, is_scored)
    assert found.seconds == (4.0 if state == "success" else None)


def test_the_submitter_makes_no_other_question_of_it() -> None:
    one, other, third = (
        tried("a", Papers(request=write_request(Request(id="a", command="c", params={"x": x}, wishes=wishes))))
        for x, wishes in [(1, Wishes(submitter="me")), (1, Wishes(submitter="you", priority=3)), (2, Wishes())]
    )
    assert one.asked == other.asked != third.asked
    assert (one.submitter, other.submitter) == ("me", "you")


# -- written


def hostile() -> Report:
    runs = [of(name, scored("a", 0.25, seconds=1.5), scored("b", 0.5)) for name in HOSTILE]
    return report(runs, dice(), "now")


def test_a_csv_begins_no_formula_and_is_read_back_as_it_was() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(hostile()), newline="")))
    assert len(rows) == len(HOSTILE) * len(METRICS)
    for number, row in enumerate(rows):
        name = HOSTILE[number // len(METRICS)]
        assert row["run"] in (name, f"'{name}")
        assert not re.match(r"\s*[=+\-@]|[\t\r\n]", row["run"])
        assert not (row["against"] or "x").startswith(("=", "+", "-", "@", "\t", "\r"))
        assert float(row["mean"]) == 0.375
        assert (row["difference"] == "") == (number < len(METRICS))


def test_json_has_every_figure() -> None:
    read = json.loads(as_json(hostile()))
    assert [run["name"] for run in read["runs"]] == HOSTILE
    assert len(read["differences"]) == (len(HOSTILE) - 1) * len(METRICS)
    assert read["against"] == HOSTILE[0]


def test_the_page_is_whole_in_itself_and_names_are_texts_in_it() -> None:
    """It is XML too, so whatever is not well-formed is found."""
    page = ElementTree.fromstring(as_page(hostile()))
    elements = list(page.iter())
    assert not {each.tag for each in elements} & {"script", "img", "link", "iframe", "object", "base", "form"}
    attributes = {name for each in elements for name in each.attrib}
    assert not [name for name in attributes if name in ("src", "href") or name.startswith("on")]
    text = "".join(page.itertext())
    assert all(name.strip() in text for name in HOSTILE)
    assert "url(" not in text


def test_the_table_marks_what_is_apart_from_the_first_run_and_nothing_else() -> None:
    made = report([of("first"), of("b"), of("c")], dice(), "now")
    metric = next(iter(METRICS))
    differences = (
        Difference(run="b", metric=metric, pairs=2, mean=0.3, low=0.1, high=0.5),
        Difference(run="c", metric=metric, pairs=2, mean=0.3, low=-0.1, high=0.5),
    )
    page = ElementTree.fromstring(as_page(replace(made, differences=differences)))
    rows = {row.findtext("th"): row for row in page.iter("tr")}
    marked = {name: [cell.get("class") for cell in row.iter("td")].count("apart") for name, row in rows.items()}
    assert {name: marked[name] for name in ("first", "b", "c")} == {"first": 0, "b": 1, "c": 0}


@pytest.mark.parametrize("runs", [[], [of("a")], [of("a", Tried(id="x", state="failed"))], [of("a"), of("b")]])
def test_a_report_of_nothing_is_written_all_the_same(runs: list[RunChosen]) -> None:
    made = report(runs, dice(), "now")
    assert made.differences == ()
    assert as_page(made).endswith("</html>\n")
    assert as_csv(made).count("\r\n") == 1 + len(runs) * len(METRICS)
    assert json.loads(as_json(made))["against"] == (runs[0].name if runs else "")
