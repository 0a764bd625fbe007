"""Posts: which mistakes are corrected, which posts are refused, and the texts of the refusals."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codec.judge import BadTask, Batch, File, Regex, Sample, Stdin, Stdout, Task, read_task
from codec.judge.task import LONGEST, MOST_TESTS
from tests.judge.payloads import PAYLOADS, SAMPLE, body, posted


def refusal(data: bytes, *, chelper: bool = False) -> str:
    with pytest.raises(BadTask) as refused:
        read_task(data, chelper=chelper)
    return str(refused.value)


def test_a_post_is_read_whole() -> None:
    assert read_task(body()) == Task(
        name="A - Past ABCs",
        group="AtCoder - AtCoder Beginner Contest 350",
        url="https://atcoder.jp/contests/abc350/tasks/abc350_a",
        time_limit=2000,
        memory_limit=1024,
        tests=(Sample("1 2\n", "3\n"),),
        batch=Batch("123e4567-e89b-12d3-a456-426614174000", 1),
    )


@pytest.mark.parametrize("payload", PAYLOADS, ids=[payload.folder for payload in PAYLOADS])
def test_a_problem_of_any_site_is_read(payload: Any) -> None:
    task = read_task(body(url=payload.url, group=payload.group, name=payload.name))
    assert (task.url, task.group, task.name) == (payload.url, payload.group, payload.name)


LIMITS = [
    (2000, 2000),
    (2000.0, 2000),
    (2999.9, 2999),
    ("1500", 1500),
    (0, None),
    (0.4, None),
    (-1, None),
    (None, None),
    (True, None),
    ("two seconds", None),
    ("nan", None),
    ([], None),
    (..., None),
]


@pytest.mark.parametrize(("given", "read"), LIMITS)
def test_a_limit_is_a_whole_number_above_zero_or_none(given: Any, read: int | None) -> None:
    task = read_task(body(timeLimit=given, memoryLimit=given))
    assert (task.time_limit, task.memory_limit) == (read, read)


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e400"])
def test_a_number_that_json_has_not_is_no_limit(number: bytes) -> None:
    assert read_task(body(timeLimit=77).replace(b"77", number)).time_limit is None


TESTS = [
    ([], ()),
    (None, ()),
    (..., ()),
    ([SAMPLE, SAMPLE], (Sample("1 2\n", "3\n"),) * 2),
    ([{"input": "1\r\n2\r\n", "output": "3\r\n"}], (Sample("1\n2\n", "3\n"),)),
    ([{"input": "1", "output": "2"}], (Sample("1\n", "2\n"),)),
    ([{"input": "1\n"}], (Sample("1\n", ""),)),
    ([{"output": "1\n"}], (Sample("", "1\n"),)),
    ([{"input": "1\n", "output": None}], (Sample("1\n", ""),)),
    ([{"input": 5, "output": 0.5}], (Sample("5\n", "0.5\n"),)),
    ([{"input": "", "output": ""}, {}, SAMPLE], (Sample("1 2\n", "3\n"),)),
    ([{**SAMPLE, "id": 7}], (Sample("1 2\n", "3\n"),)),
]


@pytest.mark.parametrize(("given", "read"), TESTS)
def test_tests_are_read_as_they_come(given: Any, read: tuple[Sample, ...]) -> None:
    assert read_task(body(tests=given)).tests == read


STREAMS = [
    ({"type": "stdin"}, {"type": "stdout"}, Stdin(), Stdout()),
    (
        {"type": "file", "fileName": "in.txt"},
        {"type": "file", "fileName": "out.txt"},
        File("in.txt"),
        File("out.txt"),
    ),
    ({"type": "regex", "pattern": "a.*[.]txt"}, {"type": "stdout"}, Regex("a.*[.]txt"), Stdout()),
    ({"type": "file"}, {"type": "file", "fileName": ""}, Stdin(), Stdout()),
    ({"type": "telepathy"}, {"type": "regex", "pattern": "x"}, Stdin(), Stdout()),
    (None, "stdout", Stdin(), Stdout()),
    (..., ..., Stdin(), Stdout()),
]


@pytest.mark.parametrize(("given", "wanted", "read_input", "read_output"), STREAMS)
def test_where_input_and_output_are(given: Any, wanted: Any, read_input: Any, read_output: Any) -> None:
    task = read_task(body(input=given, output=wanted))
    assert (task.input, task.output) == (read_input, read_output)


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "a/b", "a\\b", "..", ".profile", "c:x", "a\x00b", "x" * 101, "\ud800/"]
)
def test_a_file_is_only_ever_a_name(name: str) -> None:
    assert "fileName must be a plain file name such as" in refusal(body(output={"type": "file", "fileName": name}))


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"id": "a", "size": 6}, Batch("a", 6)),
        (..., None),
        (None, None),
        ({"id": "a"}, None),
        ({"size": 2}, None),
        ({"id": "a", "size": 0}, None),
        ({"id": "a", "size": True}, None),
        ({"id": "x" * 101, "size": 2}, None),
    ],
)
def test_a_batch_has_an_id_and_a_size(given: Any, read: Batch | None) -> None:
    assert read_task(body(batch=given)).batch == read


def test_interactive_and_multi_number_are_known() -> None:
    task = read_task(body(interactive=True, testType="multiNumber"))
    assert task.interactive
    assert task.test_type == "multiNumber"
    assert read_task(body(testType="sometimes")).test_type == "single"


def test_an_address_alone_is_enough() -> None:
    task = read_task(b'{"url": "https://codeforces.com/contest/4/problem/A?x=1"}')
    assert (task.name, task.group) == ("A", "")


def test_a_group_and_a_name_are_enough() -> None:
    assert read_task(b'{"group": "School", "name": "Sums"}').url == ""


def test_an_address_of_another_kind_is_none() -> None:
    assert read_task(body(url="javascript:alert(1)")).url == ""
    assert read_task(body(url="file:///etc/passwd")).url == ""


def test_names_are_one_line_of_bounded_length() -> None:
    task = read_task(body(name=" A\t-\r\n B \x00", group="g" * 10_000))
    assert task.name == "A - B"
    assert len(task.group) == 300


def test_a_mark_at_the_beginning_is_no_matter() -> None:
    assert read_task(b"\xef\xbb\xbf" + body() + b"\r\n").name == "A - Past ABCs"


def test_half_a_surrogate_pair_can_be_written_afterwards() -> None:
    task = read_task(body(name="a\ud800b", tests=[{"input": "\udfff\n", "output": "\ud83d\ude00\n"}]))
    assert task.name == "a�b"
    assert task.tests == (Sample("�\n", "😀\n"),)


def test_chelper_is_read_on_request() -> None:
    assert read_task(b"json\n" + body(), chelper=True) == read_task(body())
    assert read_task(body(), chelper=True) == read_task(body())
    assert refusal(b"json\n" + body()) == f"the body begins with `json`, which is CHelper's form; on this port {WANTED}"


WANTED = "expected one problem as a JSON object, as Competitive Companion sends it"
REFUSED = [
    (b"", f"the body is empty; {WANTED}"),
    (b" \n", f"the body is empty; {WANTED}"),
    (b"[]", f"the body is an array; {WANTED}"),
    (b'"a"', f"the body is a string; {WANTED}"),
    (b"{", f"the body is not JSON (line 1, column 2: Expecting property name enclosed in double quotes); {WANTED}"),
    (b"name=a&url=b", f"the body is not JSON (line 1, column 1: Expecting value); {WANTED}"),
    (b'{"name": "\xff"}', f"the body is not UTF-8; {WANTED}"),
    (b'{"a":' * 100_000, f"the body is nested too deep to be read; {WANTED}"),
    (b'{"a":' + b"9" * 5000 + b"}", f"the body holds a number too long to be read; {WANTED}"),
    (
        b'{"name": "a"}',
        "the problem has no address: expected url (http or https), or both group and name; url is missing, "
        'group is missing, name is "a"',
    ),
    (body(tests="1 2"), "tests must be an array of objects with input and output, not a string"),
    (body(tests=[SAMPLE, "1"]), "tests[1] must be an object with input and output, not a string"),
    (body(tests=[{"input": []}]), "tests[0].input must be a string, not an array"),
    (body(tests=[{"output": True}]), "tests[0].output must be a string, not true"),
    (body(tests=[SAMPLE] * (MOST_TESTS + 1)), "the problem has 1,001 tests; expected at most 1,000"),
    (body(url="https://x/" + "a" * 5000), "url has 5,010 characters; expected at most 4,096"),
    (
        body(input={"type": "regex", "pattern": "a" * 1001}),
        "input.pattern has 1,001 characters; expected at most 1,000",
    ),
]


@pytest.mark.parametrize(("data", "sentence"), REFUSED, ids=[sentence[:40] for _, sentence in REFUSED])
def test_what_is_no_problem_is_refused_in_a_sentence(data: bytes, sentence: str) -> None:
    assert refusal(data) == sentence


def test_a_body_has_a_limit() -> None:
    assert refusal(bytes(LONGEST + 1)) == "the body has 67,108,865 bytes; expected at most 67,108,864"


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(posted())), anything))
def test_whatever_the_fields_hold_it_is_read_or_refused(changes: dict[str, Any]) -> None:
    data = json.dumps(posted(**changes)).encode()
    try:
        task = read_task(data)
    except BadTask:
        assert refusal(data).isprintable()
        return
    assert task.name
    assert task.url or task.group
    for sample in task.tests:
        assert (sample.input + sample.output).encode()


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60))
def test_whatever_the_bytes_they_are_read_or_refused(data: bytes) -> None:
    with pytest.raises(BadTask):
        read_task(data)
