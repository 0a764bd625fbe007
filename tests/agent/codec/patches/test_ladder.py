"""Where a hunk is put, and why one is refused: a table. Hostile patches end, too."""

from time import process_time

import pytest

from codec.agent.patches import PatchRefused, applied, made_diff, parse_diff, replaced, rewritten
from codec.agent.patches.places import MOST_PLACES

HUNK = "--- a/x\n+++ b/x\n"

LADDER = [
    ("a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "applied", "a\nB\nc\n"),
    ("0\n1\na\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "moved", "0\n1\na\nB\nc\n"),
    ("a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "already", None),
    ("0\na\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "already", None),
    ("a\n  b\nc\n", "@@ -1,3 +1,3 @@\n a\n-b \n+B\n c\n", "refused", None),  # how deep B is cannot be told
    ("a\nb  \nc\t\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "loose", "a\nB\nc\t\n"),
    ("\tif x:\n\t\ty\n", "@@ -1,2 +1,3 @@\n     if x:\n         y\n+        z\n", "loose", "\tif x:\n\t\ty\n\t\tz\n"),
    (
        "        if x:\n            y\n",
        "@@ -1,2 +1,3 @@\n if x:\n     y\n+    z\n",
        "loose",
        "        if x:\n            y\n            z\n",
    ),
    ("q\n2\na\nb\nc\n4\nz\n", "@@ -1,7 +1,7 @@\n q\n 1\n a\n-b\n+B\n c\n 3\n z\n", "merged", "q\n2\na\nB\nc\n4\nz\n"),
    ("q\nb\nz\n", "@@ -1,5 +1,5 @@\n q\n w\n-b\n+B\n v\n z\n", "merged", "q\nB\nz\n"),
    ("q\n1\na\nX\nc\n3\nz\n", "@@ -1,7 +1,7 @@\n q\n 1\n a\n-b\n+B\n c\n 3\n z\n", "refused", None),  # the wrong middle
    ("q\n1\nX\nb\nc\n3\nz\n", "@@ -1,7 +1,7 @@\n q\n 1\n a\n-b\n+B\n c\n 3\n z\n", "refused", None),  # it touches
    ("0\na\nb\na\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "refused", None),
    ("a\nb\n", "@@ -1,0 +2 @@\n+x\n", "refused", None),
    ("a\nz\n", "@@ -1 +1,2 @@\n a\n+z\n", "already", None),
    ("a\nb\n", "@@ -1,2 +1,2 @@\n a\n b\n", "already", None),
    ("a\0b\n", "@@ -1 +1 @@\n-a\n+b\n", "refused", None),
    ("0\na\nB\nB2\nc\n", "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+B2\n c\n", "already", None),
    ("q\nb\n\n", "@@ -1,5 +1,5 @@\n q\n w\n-b\n+B\n v\n \n", "refused", None),  # a blank line is no anchor
    ("\nb\nz\n", "@@ -1,5 +1,5 @@\n \n w\n-b\n+B\n v\n z\n", "refused", None),
    ("q\nb\nz\nq\n", "@@ -1,5 +1,5 @@\n q\n w\n-b\n+B\n v\n z\n", "refused", None),  # nor is one of two
    ("a\nX\nc\n0\n1\n2\na\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n b\n-c\n+C\n", "refused", None),  # most is nearer
    ("a\nX\nY\nZ\n1\na\nb\nc\nd\n", "@@ -1,4 +1,4 @@\n a\n b\n c\n-d\n+D\n", "moved",
     "a\nX\nY\nZ\n1\na\nb\nc\nD\n"),
    ("a\nb\nY\nZ\n1\na\nb\nc\nd\n", "@@ -1,4 +1,4 @@\n a\n b\n c\n-d\n+D\n", "refused", None),  # half is
    ("a\nb\n", "@@ -5,2 +5,2 @@\n a\n-b\n+B\n", "moved", "a\nB\n"),
    (" a\n b\n\ta\n b\n", "@@ -1,2 +1,2 @@\n   a\n-  b\n+  B\n", "refused", None),
]  # fmt: skip


@pytest.mark.parametrize(("base", "body", "outcome", "expected"), LADDER)
def test_a_hunk_is_put_where_it_certainly_belongs(base: str, body: str, outcome: str, expected: str | None) -> None:
    result = applied(base.encode(), parse_diff(HUNK + body)[0])
    assert result.data == (base if expected is None else expected).encode()
    assert [each.outcome for each in result.outcomes] == [outcome]
    assert bool(result.refusals) == (outcome == "refused")


@pytest.mark.parametrize(
    ("base", "body", "line", "reason"),
    [
        ("a\nb\n", "@@ -1,2 +1,2 @@\n a\n b\n", 1, "It changes nothing."),
        ("a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", 1, "The file is so already."),
        ("0\na\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", 2, "The file is so already."),
        ("0\na\nB\nc\n", "@@ -9,3 +2,3 @@\n a\n-b\n+B\n c\n", 2, "The file is so already."),
        ("B\nx\nB\nx\n", "@@ -1,2 +3,2 @@\n-b\n+B\n x\n", 1, "The file is so already."),
        ("x\nq\nB\nx\n", "@@ -1,2 +3,2 @@\n-b\n+B\n x\n", 3, "The file is so already."),
        ("a\nz\n", "@@ -1 +1,2 @@\n a\n+z\n", 1, "Its lines are there."),
        ("z\na\n", "@@ -2 +2,2 @@\n+z\n a\n", 2, "Its lines are there."),
    ],
)
def test_of_what_is_done_already_it_is_told_where_and_why(base: str, body: str, line: int, reason: str) -> None:
    (outcome,) = applied(base.encode(), parse_diff(HUNK + body)[0]).outcomes
    assert (outcome.outcome, outcome.line, outcome.reason) == ("already", line, reason)


def test_an_ambiguous_hunk_is_told_where_it_fits() -> None:
    result = applied(b"0\na\nb\na\nb\n", parse_diff(f"{HUNK}@@ -1,2 +1,2 @@\n a\n-b\n+B\n")[0])
    assert "2 places (at the lines 2 and 4)" in result.refusals[0]


@pytest.mark.parametrize(
    ("count", "why"),
    [
        (2, "2 places (at the lines 1 and 2)"),
        (10, "10 places (at the lines 1, 2, 3, 4, 5, 6, 7, 8, 9 and 10)"),
        (11, "11 places (at the lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...)"),
        (MOST_PLACES, f"{MOST_PLACES} places (at the lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...)"),
        (MOST_PLACES + 1, f"more than {MOST_PLACES} places."),
    ],
)
def test_of_many_places_the_first_are_told(count: int, why: str) -> None:
    result = applied(b"a\n" * count, parse_diff(f"{HUNK}@@ ... @@\n-a\n+B\n")[0])
    assert why in result.refusals[0]
    assert "Add lines of context" in result.refusals[0]


def test_a_hunk_that_fits_at_several_places_but_for_white_space_is_told_so() -> None:
    result = applied(b" a\n b\n\ta\n b\n", parse_diff(f"{HUNK}@@ -1,2 +1,2 @@\n   a\n-  b\n+  B\n")[0])
    assert "2 places but for white space (at the lines 1 and 3)" in result.refusals[0]


FIRST, LAST = "@@ -1,2 +1,2 @@\n u\n-a\n+A\n", "@@ -7 +7 @@\n-z\n+Z\n"
MIDDLE = "@@ -5,2 +5,2 @@\n x\n-y\n+Y\n"


@pytest.mark.parametrize(
    ("hunks", "outcomes", "expected"),
    [
        ([MIDDLE], ["applied"], "0\n1\nu\na\nx\nY\nx\ny\nz\n"),
        ([FIRST, MIDDLE], ["moved", "refused"], "0\n1\nu\nA\nx\ny\nx\ny\nz\n"),
        ([MIDDLE, LAST], ["refused", "moved"], "0\n1\nu\na\nx\ny\nx\ny\nZ\n"),
        ([FIRST, MIDDLE, LAST], ["moved", "moved", "moved"], "0\n1\nu\nA\nx\ny\nx\nY\nZ\n"),
        ([FIRST, MIDDLE, "@@ -6 +6 @@\n-z\n+Z\n"], ["moved", "refused", "moved"], "0\n1\nu\nA\nx\ny\nx\ny\nZ\n"),
        ([FIRST, "@@ -4,2 +4,2 @@\n x\n-y\n+Y\n", LAST], ["moved", "refused", "moved"],
         "0\n1\nu\nA\nx\ny\nx\ny\nZ\n"),
    ],
)  # fmt: skip
def test_where_a_file_has_drifted_a_hunk_that_fits_twice_needs_both_neighbours_to_agree(
    hunks: list[str], outcomes: list[str], expected: str
) -> None:
    """The file was u a x y x y z; two lines have come at its top."""
    result = applied(b"0\n1\nu\na\nx\ny\nx\ny\nz\n", parse_diff(HUNK + "".join(hunks))[0])
    assert [each.outcome for each in result.outcomes] == outcomes
    assert result.data == expected.encode()


def test_a_hunk_may_not_change_what_others_change() -> None:
    def hunk(first: int, *lines: str) -> str:
        old = "".join(f"-{line}\n" for line in lines)
        return f"@@ -{first},{len(lines)} +{first} @@\n{old}+{first}\n"

    one, other, both, apart = hunk(1, "a", "b"), hunk(3, "c", "d"), hunk(2, "b", "c"), hunk(5, "e")
    result = applied(b"a\nb\nc\nd\ne\n", parse_diff(HUNK + one + other + both + apart)[0])
    assert [each.outcome for each in result.outcomes] == ["applied", "applied", "refused", "applied"]
    assert "the same lines as hunk 1" in result.refusals[0]
    assert result.data == b"1\n3\n5\n"
    wide = hunk(1, "a", "b", "c", "d")
    result = applied(b"a\nb\nc\nd\ne\n", parse_diff(HUNK + wide + one + other + both + apart)[0])
    assert [each.outcome for each in result.outcomes] == ["applied", "refused", "refused", "refused", "applied"]


def test_hunks_may_be_left_out() -> None:
    before, after = (b"".join(b"%d\n" % n for n in range(60)) for _ in range(2))
    after = after.replace(b"\n5\n", b"\nfive\nmore\n").replace(b"\n40\n", b"\nforty\n")
    (patch,) = parse_diff(made_diff("x", before, after).diff)
    first, last, none = (applied(before, patch, only=only) for only in ({0}, {1}, ()))
    assert first.data == before.replace(b"\n5\n", b"\nfive\nmore\n")
    assert last.data == before.replace(b"\n40\n", b"\nforty\n")
    assert (none.data, {each.outcome for each in none.outcomes}) == (before, {"rejected"})
    assert [(each.outcome, each.line) for each in applied(before, patch).outcomes] == [("applied", 6), ("applied", 42)]
    assert [each.outcome for each in first.outcomes] == ["applied", "rejected"]


def test_two_hunks_for_the_same_lines_are_told_apart() -> None:
    for line, outcome in (("B", "already"), ("C", "refused")):
        diff = f"{HUNK}@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -1,2 +1,2 @@\n a\n-b\n+{line}\n"
        result = applied(b"a\nb\n", parse_diff(diff)[0])
        assert (result.data, [each.outcome for each in result.outcomes]) == (b"a\nB\n", ["applied", outcome])


def test_a_file_is_deleted_without_its_lines_only_if_it_has_none() -> None:
    (delete,) = parse_diff("diff --git a/x b/x\ndeleted file mode 100644\n")
    assert applied(b"", delete).data is None
    refused = applied(b"a\n", delete)
    assert refused.data == b"a\n"
    assert "not all of its lines" in refused.refusals[0]
    (part,) = parse_diff("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n")
    assert "not all of its lines" in applied(b"a\nb\n", part).refusals[0]


def test_files_are_created_and_deleted_only_as_they_are() -> None:
    (create,) = parse_diff("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n")
    (delete,) = parse_diff("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n")
    (modify,) = parse_diff(f"{HUNK}@@ -1 +1 @@\n-a\n+b\n")
    said = {
        (patch.action, base): (applied(base, patch).data, applied(base, patch).outcomes[0].outcome)
        for patch in (create, delete, modify)
        for base in (None, b"", b"a\n", b"a\nb\n")
    }
    assert said == {
        ("create", None): (b"a\n", "applied"),
        ("create", b""): (b"a\n", "applied"),
        ("create", b"a\n"): (b"a\n", "already"),
        ("create", b"a\nb\n"): (b"a\nb\n", "refused"),
        ("delete", None): (None, "already"),
        ("delete", b""): (b"", "refused"),
        ("delete", b"a\n"): (None, "applied"),
        ("delete", b"a\nb\n"): (b"a\nb\n", "refused"),
        ("modify", None): (None, "refused"),
        ("modify", b""): (b"", "refused"),
        ("modify", b"a\n"): (b"b\n", "applied"),
        ("modify", b"a\nb\n"): (b"b\nb\n", "applied"),
    }


REPLACED = [
    ("a\nb\nc\n", "b", "B", "a\nB\nc\n"),
    ("a\r\nb\r\nc\r\n", "a\nb\n", "A\nB\nX\n", "A\r\nB\r\nX\r\nc\r\n"),
    ("x = foo(1)\n", "foo(1)", "bar(2)", "x = bar(2)\n"),
    ("a\nb", "b", "B\nC", "a\nB\nC"),
    ("a\nb", "b\n", "B\n", "a\nB"),
    ("a\nb\n", "b\n", "", "a\n"),
    ("\tif x:\n\t\ty\n", "    if x:\n        y\n", "    if x:\n        z\n", "\tif x:\n\t\tz\n"),
    ("\ufeffa\nb\n", "a\n", "A\n", "\ufeffA\nb\n"),
    ("a\nb\r\nc\n", "a\nb\nc", "a\nb\nC", "a\nb\r\nC\n"),
]


@pytest.mark.parametrize(("base", "old", "new", "expected"), REPLACED)
def test_a_text_takes_the_place_of_another(base: str, old: str, new: str, expected: str) -> None:
    assert replaced(base.encode(), old, new) == expected.encode()


NOT_REPLACED = [
    (b"a\nb\na\n", "a", "x", "2 places (from the lines 1, 3)"),
    (b"a\n", "b", "c", "has no line `b`"),
    (b"a\n", "", "c", "empty"),
    (b"a\n", "a", "a", "same"),
    (b"new\n", "old", "new", "done already"),
    (b"a\0", "a", "b", "no text"),
    (b"\xe9\n", "\xe9", "\u20ac", "latin-1"),
    (b"  a\n\ta\n", "    a\n", "b\n", "2 places but for white space"),
]


@pytest.mark.parametrize(("base", "old", "new", "why"), NOT_REPLACED)
def test_a_text_is_not_replaced_unless_it_is_certain(base: bytes, old: str, new: str, why: str) -> None:
    with pytest.raises(PatchRefused) as refusal:
        replaced(base, old, new)
    assert why in str(refusal.value)


def test_a_whole_file_keeps_its_encoding_mark_and_ends() -> None:
    assert rewritten(b"\xef\xbb\xbfa\r\nb\r\n", "c\nd\n") == b"\xef\xbb\xbfc\r\nd\r\n"
    assert rewritten(b"\xe9\n", "\xe9\xe9\n") == b"\xe9\xe9\n"
    assert rewritten(None, "a\r\n") == b"a\r\n"
    assert rewritten(b"\0", "a\n") == b"a\n"


@pytest.mark.drawn(3)
@pytest.mark.slow
@pytest.mark.parametrize("lines", ["x\n" * 50_000, "x\ny\n" * 25_000, "".join(f"{n}\n" for n in range(50_000))])
@pytest.mark.parametrize("body", [" x\n-x\n+z\n", " x\n-y\n+z\n x\n", " x\n x\n-x\n x\n+x\n"])
def test_twenty_thousand_hunks_of_one_line_end_soon(lines: str, body: str) -> None:
    diff = HUNK + "".join(f"@@ -{number * 7 + 60_000} +1 @@\n{body}" for number in range(20_000))
    begun = process_time()
    result = applied(lines.encode(), parse_diff(diff)[0])
    assert len(result.outcomes) == 20_000
    assert process_time() - begun < 10


@pytest.mark.slow
def test_files_with_nothing_in_common_but_their_lines_are_compared_soon() -> None:
    before = "".join(f"{number * 7919 % 1000}\n" for number in range(30_000)).encode()
    after = "".join(f"{number * 104_729 % 1000}\n" for number in range(30_000)).encode()
    begun = process_time()
    made = made_diff("x", before, after)
    assert process_time() - begun < 20
    assert applied(before, parse_diff(made.diff)[0]).data == after
