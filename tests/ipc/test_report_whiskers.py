"""The picture of a difference shows its numbers: a point for the mean, a line for the interval, 0 in the middle."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codec.ipc.report import report
from codec.ipc.report_page import LABELS, as_page
from tests.ipc.test_report import dice, of, scored

WHISKER = re.compile(
    r'<line class="zero" x1="50%" x2="50%".*?<line class="c\d+" x1="([-\d.]+)%" x2="([-\d.]+)%".*?'
    r'<circle class="c\d+" cx="([-\d.]+)%"',
    re.DOTALL,
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=2, max_size=4))
def test_each_difference_has_its_picture_to_one_scale_and_within_the_frame(values: list[list[float]]) -> None:
    runs = [of(f"run {number}", *map(scored, "abc", each)) for number, each in enumerate(values)]
    made = report(runs, dice(), "now")
    drawn = [tuple(map(float, each)) for each in WHISKER.findall(as_page(made))]
    told = [
        (each.mean if each.low is None else each.low, each.mean if each.high is None else each.high, each.mean)
        for metric in LABELS
        for each in made.differences
        if each.metric == metric
    ]
    assert len(drawn) == len(told) > 0
    reach = max(0.01, *(abs(end) for each in told for end in each))
    expected = [tuple(50 + 48 * end / reach for end in each) for each in told]
    assert drawn == [pytest.approx(each, abs=0.01) for each in expected]
    assert all(2 <= end <= 98 for each in drawn for end in each)
