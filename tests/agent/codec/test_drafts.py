"""What a call makes of a file before anybody is asked."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.action_events import DiffHunk
from codec.agent.drafts import (
    DraftRefused,
    FileWish,
    by_content,
    by_deletion,
    by_diff,
    by_edits,
    changed_places,
    draft,
    lines_of,
    refuse_lost_secrets,
    written_anew,
)
from codec.agent.patches import made_diff
from codec.agent.withheld import withheld

TEN = "".join(f"line {number}\n" for number in range(1, 11)).encode()


def test_hunks_that_fit_are_drafted_and_the_others_are_told() -> None:
    (wish,) = by_diff("--- a/a.txt\n+++ b/a.txt\n@@ -2 +2 @@\n-line 2\n+LINE 2\n@@ -8 +8 @@\n-line eight\n+LINE 8\n")
    made = draft(wish, TEN)
    assert made.after == TEN.replace(b"line 2\n", b"LINE 2\n")
    assert made.notes[0].startswith("Hunk 2 of a.txt was left out: ")
    assert (made.action, made.changed_lines) == ("modify", 2)


QUUX = "@@ -2 +2 @@\n-quux\n+LINE 2\n"
DONE = "@@ -3,4 +3,4 @@\n line 3\n-LINE 4\n-LINE 5\n+line 4\n+line 5\n line 6\n"
FITS = "@@ -8 +8 @@\n-line 8\n+LINE 8\n"


@pytest.mark.parametrize("hunks", [(QUUX,), (DONE,), (QUUX, DONE)])
def test_a_diff_of_which_nothing_fits_is_refused_with_the_reason(hunks: tuple[str, ...]) -> None:
    head = "--- a/a.txt\n+++ b/a.txt\n"
    left_out = {QUUX: "was left out: ", DONE: "was left out: it is in the file already."}
    told = [f"Hunk {number} of a.txt {left_out[hunk]}" for number, hunk in enumerate(hunks, 1)]
    (wish,) = by_diff(head + "".join(hunks))
    with pytest.raises(DraftRefused) as refused:
        draft(wish, TEN)
    assert str(refused.value).startswith(told[0])
    assert [each for each in told if each not in str(refused.value)] == []
    (wish,) = by_diff(head + "".join([*hunks, FITS]))
    made = draft(wish, TEN)
    assert made.after == TEN.replace(b"line 8", b"LINE 8")
    assert [note.startswith(words) for note, words in zip(made.notes, told, strict=True)] == [True] * len(hunks)


def test_a_diff_makes_and_deletes_files() -> None:
    new, old = by_diff(
        "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+x\n--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n"
    )
    assert (draft(new, None).action, draft(new, None).after) == ("create", b"x\n")
    assert (draft(old, b"y\n").action, old.deletes) == ("delete", True)


def test_edits_of_one_file_follow_on_each_other() -> None:
    (wish,) = by_edits([("a", "line 2", "two"), ("a", "two\n", "zwei\n"), ("a", "quux", "x")])
    made = draft(wish, TEN)
    assert made.after == TEN.replace(b"line 2", b"zwei")
    assert made.notes[0].startswith("Edit 3 of a was left out: ")


def test_an_edit_that_quotes_a_withheld_text_is_told_why_it_fits_nowhere() -> None:
    (wish,) = by_edits([("a", "KEY=***", "KEY=1")])
    with pytest.raises(DraftRefused, match="stands for a text that you were not shown"):
        draft(wish, b"KEY=sk-abcdefgh12345678abcd\n")


@pytest.mark.parametrize("old", [None, b""])
def test_an_empty_old_text_makes_a_file(old: bytes | None) -> None:
    (wish,) = by_edits([("a", "", "x\n")])
    assert draft(wish, old).after == b"x\n"


def test_nothing_that_changes_nothing_is_a_draft() -> None:
    for wish in (*by_content("a", TEN.decode()), *by_edits([("a", "line 2", "line 2")])):
        with pytest.raises(DraftRefused):
            draft(wish, TEN)


def test_a_file_that_is_not_there_is_not_deleted() -> None:
    with pytest.raises(DraftRefused, match="There is no file a"):
        draft(by_deletion("a")[0], None)


KEPT = [
    (None, "ä\n", "ä\n".encode()),
    (b"old\r\n", "new\nmore\n", b"new\r\nmore\r\n"),
    (b"old\r\nmixed\n", "new\n", b"new\n"),
    (b"\xef\xbb\xbfold\n", "new\n", b"\xef\xbb\xbfnew\n"),
    (b"\xef\xbb\xbfold\n", "\ufeffnew\n", b"\xef\xbb\xbfnew\n"),
    ("\ufeffalt\n".encode("utf-16-le"), "neu\n", "\ufeffneu\n".encode("utf-16-le")),
    ("für\n".encode("latin-1"), "über\n", "über\n".encode("latin-1")),
]


@pytest.mark.parametrize(("base", "content", "after"), KEPT, ids=[str(number) for number in range(len(KEPT))])
def test_a_file_that_is_written_anew_keeps_its_encoding_its_mark_and_its_line_ends(
    base: bytes | None, content: str, after: bytes
) -> None:
    assert written_anew("a", base, content) == after


@pytest.mark.parametrize(
    ("base", "content", "told"),
    [
        (b"\0\1\2", "x", "is no text"),
        (None, "a\0b", "NUL"),
        ("für\n".encode("latin-1"), "→\n", "which has no"),
    ],
)
def test_what_cannot_be_written_is_refused(base: bytes | None, content: str, told: str) -> None:
    with pytest.raises(DraftRefused, match=told):
        written_anew("a", base, content)


SECRETS = [
    "PORT=80",
    "API_KEY=hunter2hunter2",
    "token: sk-abcdefgh12345678abcd",
    "# a remark",
    "password = 'k9f8s7d6a5s4'",
    "***",
    "",
    "x = 1",
]
some_lines = st.lists(st.sampled_from(SECRETS), max_size=8)


@given(some_lines, st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3), some_lines), max_size=3), st.booleans())
def test_no_draft_loses_a_secret_that_was_not_shown(
    lines: list[str], changes: list[tuple[int, int, list[str]]], is_env: bool
) -> None:
    path, base = ".env" if is_env else "a.ini", "".join(f"{line}\n" for line in lines)
    seen = withheld(base, path).split("\n")[:-1]
    for at, count, new in changes:  # a model knows only what it was shown
        seen[at : at + count] = [withheld(line, path) for line in new]
    content = "".join(f"{line}\n" for line in seen)
    try:
        made = draft(by_content(path, content)[0], base.encode())
    except DraftRefused:
        return
    assert made.after is not None
    hidden = [line for line, shown in zip(lines, withheld(base, path).split("\n"), strict=False) if line != shown]
    left = made.after.decode().split("\n")
    assert all(left.count(line) >= hidden.count(line) for line in hidden)


PLACES = [
    (b"a\nb\nc\n", b"a\nB\nc\n", "2"),
    (b"a\nb\nc\n", b"a\nB\nBB\nc\n", "2-3"),
    (b"a\nb\nc\n", b"a\nc\n", "2"),
    (None, b"a\nb\n", "1-2"),
    (TEN, TEN.replace(b"line 2", b"two").replace(b"line 9", b"nine"), "2, 9"),
]


@pytest.mark.parametrize(("before", "after", "places"), PLACES, ids=[places for *_, places in PLACES])
def test_the_changed_lines_are_told_as_they_are_counted_now(before: bytes | None, after: bytes, places: str) -> None:
    assert changed_places(made_diff("a", before, after).hunks) == places


@pytest.mark.parametrize(("data", "count"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\n\nb", 3), (b"\0\1", 0)])
def test_lines_are_counted_as_people_do(data: bytes, count: int) -> None:
    assert lines_of(data) == count


TWO = "--- a/a.txt\n+++ b/a.txt\n@@ -2 +2 @@\n-line 2\n+LINE 2\n"


@pytest.mark.parametrize(
    ("wishes", "base", "told"),
    [
        (lambda: by_diff(TWO), None, "Hunk 1 of a.txt was left out: There is no such file."),
        (lambda: by_edits([("a", "x", "y")]), None, "Edit 1 of a was left out: There is no file a. To make it,"),
        (lambda: by_edits([("a", "", "y")]), TEN, "Edit 1 of a was left out: `old` is empty, and the file is not."),
        (lambda: by_edits([("a", "no", "y"), ("a", "none", "y")]), TEN, "Edit 1 of a was left out: "),
        (lambda: by_content("a", TEN.decode()), TEN, "Nothing would change in a. It is so already."),
        (lambda: by_edits([("a", "line 2", "x"), ("a", "x", "line 2"), ("a", "no", "")]), TEN,
         "Nothing would change in a. Edit 3 of a"),
        (lambda: by_content("a", "\0"), TEN, "The content of a has a NUL in it."),
    ],
)  # fmt: skip
def test_of_what_no_draft_can_be_made_it_is_said_why(
    wishes: Callable[[], list[FileWish]], base: bytes | None, told: str
) -> None:
    with pytest.raises(DraftRefused) as refused:
        draft(wishes()[0], base)
    assert str(refused.value).startswith(told)
    assert "stands for a text" not in str(refused.value)


def test_each_file_of_a_diff_and_of_edits_is_a_wish_in_their_order() -> None:
    wishes = by_diff(TWO + TWO.replace("a.txt", "b.txt") + TWO)
    assert [(each.path, each.deletes) for each in wishes] == [("a.txt", False), ("b.txt", False)]
    assert [each.path for each in by_edits([("b", "", "1"), ("a", "", "1"), ("b", "1", "2")])] == ["b", "a"]


def test_a_hunk_that_fits_elsewhere_is_told_with_its_line() -> None:
    (wish,) = by_diff("--- a/a.txt\n+++ b/a.txt\n@@ -2,3 +2,3 @@\n line 5\n-line 6\n+LINE 6\n line 7\n")
    assert draft(wish, TEN).notes == ("Hunk 1 of a.txt fitted at line 6.",)


def hunk_at(start: int, content: str) -> DiffHunk:
    return DiffHunk(old_start=start, old_lines=1, new_start=start, new_lines=1, content=content)


KEY = b'import os\napi_key = "hunter2hunter2"\ndef f(): ...\n'


@pytest.mark.parametrize(
    ("start", "content", "told"),
    [
        (1, '-import os\n+import sys\n api_key = "***"\n def f(): ...', None),
        (1, '-import os\n-api_key = "***"', "Line 2 of a.py holds a secret"),
        (1, '+NEW=1\n import os\n-api_key = "***"', "Line 2 of a.py holds a secret"),
        (2, '-api_key = "***"', "Line 2 of a.py holds a secret"),
        (3, "-def f(): ...", None),
        (2, '+x=1\n\\ No newline\n api_key = "***"\n-def f(): ...', None),
        (3, '+api_key = "***"', "This would write *** into a.py"),
        (3, '+  api_key = "***" ', "This would write *** into a.py"),
        (3, "+OTHER=***", None),
        (3, "+api_key = mine", None),
        (2, ' api_key = "***"', None),
    ],
)
def test_a_hunk_may_stand_around_a_secret_and_neither_remove_nor_blank_it(
    start: int, content: str, told: str | None
) -> None:
    hunk = hunk_at(start, content)
    if told is None:
        refuse_lost_secrets("a.py", KEY, [hunk])
        return
    with pytest.raises(DraftRefused) as refused:
        refuse_lost_secrets("a.py", KEY, [hunk])
    assert str(refused.value).startswith(told)
    refuse_lost_secrets("a.py", b"import os\napi_key = 1\ndef f(): ...\n", [hunk])
    refuse_lost_secrets("a.py", b"\0", [hunk])


@pytest.mark.parametrize(
    ("starts", "content", "most", "told"),
    [
        ((1,), " a\n-b\n+B", 12, "2"),
        ((1,), " a\n-b\n-c\n+B\n+C\n+D", 12, "2-4"),
        ((1,), "-a\n+A\n b\n+C", 12, "1, 3"),
        ((0,), "-a", 12, "1"),
        ((5,), "-a\n\\ No newline at end of file\n+A\n\\ No newline at end of file", 12, "5"),
        ((5,), "-a\n b\n\\ No newline at end of file\n+A", 12, "5, 6"),
        ((3, 9), "-a\n+A", 12, "3, 9"),
        ((3, 9, 12), "-a\n+A", 3, "3, 9, 12"),
        ((3, 9, 12), "-a\n+A", 2, "3, 9 and 1 place more"),
        ((3, 9, 12), "-a\n+A", 1, "3 and 2 places more"),
    ],
)
def test_changed_places_are_runs_of_lines(starts: tuple[int, ...], content: str, most: int, told: str) -> None:
    hunks = [hunk_at(start, content) for start in starts]
    assert changed_places(hunks, most) == told
