"""The texts that are made and read, to the letter: a diff, its hunks, and the sentences of refusals."""

import pytest

from codec.agent.patches import PatchRefused, PatchUnreadable, applied, made_diff, parse_diff, reading, replaced
from codec.agent.patches.places import MOST_PLACES

HUNK = "--- a/x\n+++ b/x\n"
NO_END = "\\ No newline at end of file\n"

MADE = [
    (b"a\nb\nc\n", b"a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", 1, 1),
    (b"a\nb\n", b"a\nx\nb\n", "@@ -1,2 +1,3 @@\n a\n+x\n b\n", 1, 0),
    (b"a\nb\n", b"b\n", "@@ -1,2 +1 @@\n-a\n b\n", 0, 1),
    (b"", b"a\n", "@@ -0,0 +1 @@\n+a\n", 1, 0),
    (b"a\n", b"", "@@ -1 +0,0 @@\n-a\n", 0, 1),
    (b"a\nb", b"a\nB", f"@@ -1,2 +1,2 @@\n a\n-b\n{NO_END}+B\n{NO_END}", 1, 1),
    (b"a\nb", b"a\nb\n", f"@@ -1,2 +1,2 @@\n a\n-b\n{NO_END}+b\n", 1, 1),
    (b"a\r\nb\r\n", b"a\r\nB\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n", 1, 1),
    (b"a\rb\r", b"a\rB\r", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", 1, 1),
    (b"a\r", b"a\rb", f"@@ -1 +1,2 @@\n a\n+b\n{NO_END}", 1, 0),
    (b"a\rb\n", b"a\rc\n", "@@ -1 +1 @@\n-a\rb\n+a\rc\n", 1, 1),
    (b"a\nb\n", b"a\r\nb\n", "@@ -1,2 +1,2 @@\n-a\n+a\r\n b\n", 1, 1),
    (b"a\r", b"a\n", f"@@ -1 +1 @@\n-a\r\n{NO_END}+a\n", 1, 1),
    (b"\xef\xbb\xbfa\n", b"a\n", "@@ -1 +1 @@\n-\ufeffa\n+a\n", 1, 1),
    (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfb\n", "@@ -1 +1 @@\n-a\n+b\n", 1, 1),
    (b"\xe9\n", b"\xe9a\n", "@@ -1 +1 @@\n-é\n+éa\n", 1, 1),
]


@pytest.mark.parametrize(("before", "after", "hunks", "added", "removed"), MADE)
def test_a_diff_is_what_git_would_write(before: bytes, after: bytes, hunks: str, added: int, removed: int) -> None:
    made = made_diff("x", before, after)
    assert made.diff == f"diff --git a/x b/x\n{HUNK}{hunks}"
    assert (made.added, made.removed, made.exact) == (added, removed, True)


@pytest.mark.parametrize(
    ("path", "before", "after", "diff", "exact"),
    [
        ("a b", None, b"a\n", "new file mode 100644\n--- /dev/null\n+++ b/a b\t\n@@ -0,0 +1 @@\n+a\n", True),
        ("a b", b"a\n", None, "deleted file mode 100644\n--- a/a b\t\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", True),
        ("x", None, b"", "new file mode 100644\n", True),
        ("x", b"", None, "deleted file mode 100644\n", True),
        ("x", b"\xe9\n", "é\n".encode(), "", False),
        ("x", None, b"\xe9\n", "new file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+é\n", False),
    ],
)
def test_files_that_come_and_go_and_what_lines_cannot_tell(
    path: str, before: bytes | None, after: bytes | None, diff: str, exact: bool
) -> None:
    made = made_diff(path, before, after)
    assert made.diff == f"diff --git a/{path} b/{path}\n{diff}"
    assert made.exact is exact


AGAIN = " Read the file again, and send the hunk with the lines that it has."


@pytest.mark.parametrize(
    ("base", "body", "why"),
    [
        ("a\nb\n", "@@ -1,2 +1,2 @@\n a\n-z\n+B\n", f"The file has no line `z`.{AGAIN}"),
        ("b\na\n", "@@ -1,3 +1,3 @@\n b\n a\n-b\n+B\n", f"The file ends at line 2, before the hunk does.{AGAIN}"),
        ("a\nb\n", "@@ -2,2 +2,2 @@\n b\n-a\n+B\n", f"The file ends at line 2, before the hunk does.{AGAIN}"),
        ("a\nb\n", "@@ -1,2 +1,2 @@\n b\n-a\n+B\n", f"Line 1 of the file is `a`, where the hunk has `b`.{AGAIN}"),
        ("a\nb\nc\n", "@@ -1,2 +1,2 @@\n a\n-c\n+B\n", f"Line 2 of the file is `b`, where the hunk has `c`.{AGAIN}"),
        ("a\nb\n", "@@ ... @@\n b\n-a\n+B\n", f"The file has its lines, but nowhere one after the other.{AGAIN}"),
        ("a\n", f"@@ -1 +1 @@\n-{'y' * 80}\n+B\n", f"The file has no line `{'y' * 80}`.{AGAIN}"),
        ("a\n", f"@@ -1 +1 @@\n-{'y' * 81}\n+B\n", f"The file has no line `{'y' * 80}…`.{AGAIN}"),
        ("é\n", "@@ -1 +1 @@\n-é\n+€\n",
         "The file is read as latin-1, and its new lines have characters that it cannot hold."),
    ],
)  # fmt: skip
def test_a_refusal_says_where_the_file_is_another(base: str, body: str, why: str) -> None:
    result = applied(base.encode("latin-1"), parse_diff(HUNK + body)[0])
    assert result.refusals == (why,) or result.refusals == (f"Hunk 1: {why}",)
    assert result.data == base.encode("latin-1")


@pytest.mark.parametrize(
    ("body", "old", "new", "content"),
    [
        ("@@ -1,2 +1,2 @@\n a\n-b\n+B\n\n", (1, 2), (1, 2), " a\n-b\n+B\n"),
        ("@@ -1,4 +1,4 @@\n a\n-b\n+B\n\n\n", (1, 4), (1, 4), " a\n-b\n+B\n \n \n"),
        ("@@ -1,3 +1,4 @@\n a\n-b\n+B\n\n", (1, 2), (1, 2), " a\n-b\n+B\n"),
        ("@@ -1,9 +1,9 @@\n a\n-b\n+B\n c\n", (1, 3), (1, 3), " a\n-b\n+B\n c\n"),
        ("@@ -1,4 +1,4 @@\n a\n\n-b\n+B\n\ntext\n", (1, 4), (1, 4), " a\n \n-b\n+B\n \n"),
        ("@@ -1,2 +1,2 @@\n\\ No newline\n a\n-b\n+B\n", (1, 2), (1, 2), " a\n-b\n+B\n"),
        (f"@@ -1 +1 @@\n-a\n{NO_END}+b\n{NO_END}", (1, 1), (1, 1), f"-a\n{NO_END}+b\n{NO_END}"),
        ("@@ -1 +1 @@\n-a\n+b\n\r\n", (1, 1), (1, 1), "-a\n+b\n"),
        ("@@ -1,0 +2 @@\n+x\n", (1, 0), (2, 1), "+x\n"),
        ("@@ -3 +3,0 @@\n-c\n", (3, 1), (3, 0), "-c\n"),
        ("@@ -1,2 +1,2 @@\n a\n-b\n+B\n-- \n2.39.1\n", (1, 2), (1, 2), " a\n-b\n+B\n"),
        ("@@ -1,3 +1,3 @@\n a\n-b\n+B\n-- \n2.39.1\n", (1, 2), (1, 2), " a\n-b\n+B\n"),
    ],
)
def test_a_hunk_ends_where_its_header_says_or_where_something_else_begins(
    body: str, old: tuple[int, int], new: tuple[int, int], content: str
) -> None:
    if "text\n" in body:
        body = body.replace("text\n", "diff --git a/y b/y\nnew file mode 100644\n")
    (hunk,) = parse_diff(HUNK + body)[0].hunks
    assert ((hunk.old_start, hunk.old_lines), (hunk.new_start, hunk.new_lines)) == (old, new)
    assert hunk.content == content


ONE = f"{HUNK}@@ -1 +1 @@\n-a\n+b\n"
OTHER = ONE.replace("x", "y")


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        (f"```\n{ONE}```\n", ["x"]),
        (f"```diff\n{ONE}", ["x"]),
        (f"text\n~~~\n{ONE}~~~\n-more\n", ["x"]),
        (f"```py\n-a\n```\n{ONE}", ["x"]),
        (f"````\n```\n{ONE}````\n", ["x"]),
        (f"```\n{ONE}```\n```\n{OTHER}```\n", ["x", "y"]),
        (f"```\n{ONE}```\n{OTHER}", ["x"]),
        (f"```\n{ONE}```\n```\n{OTHER}", ["x", "y"]),
    ],
)
def test_what_stands_in_fences_counts_if_any_of_them_holds_a_diff(text: str, paths: list[str]) -> None:
    assert [patch.path for patch in parse_diff(text)] == paths


def test_a_diff_has_so_many_hunks_and_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    hunks = "".join(f"@@ -{number} +{number} @@\n-a\n+b\n" for number in (1, 2, 3))
    monkeypatch.setattr(reading, "MOST_HUNKS", 3)
    assert len(parse_diff(HUNK + hunks)[0].hunks) == 3
    monkeypatch.setattr(reading, "MOST_HUNKS", 2)
    with pytest.raises(PatchUnreadable, match="more than 2 hunks"):
        parse_diff(HUNK + hunks)
    monkeypatch.setattr(reading, "LONGEST_DIFF", len(ONE))
    assert parse_diff(ONE)
    with pytest.raises(PatchUnreadable, match="are read"):
        parse_diff(f"{ONE}\n")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("diff --git a/x b/x\nrename from x\n", "Line 2 renames or copies a file"),
        ("diff --git a/x b/x\ncopy from x\n", "Line 2 renames or copies a file"),
        ("diff --git a/x b/x\nBinary files a/x and b/x differ\n", "Line 2: the file is binary"),
        ("diff --git a/x b/x\nGIT binary patch\n", "Line 2: the file is binary"),
        (f"{ONE}stray\n+c\n", "Line 7 of the diff, `\\+c`, belongs to no hunk"),
        (f"{HUNK}@@ -1 +1 @@\n\\ x\n", "Line 3 of the diff, `@@ -1 \\+1 @@`, begins a hunk that has no lines"),
        (f"{HUNK}@@@ -1 -1 +1 @@@\n a\n", "Line 3 is of a diff of a merge"),
    ],
)
def test_what_a_diff_may_not_say_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(PatchUnreadable, match=why):
        parse_diff(text)


@pytest.mark.parametrize("line", ["Binary files are read as they differ from text", "the two differ", "rename it"])
def test_prose_around_a_diff_is_no_part_of_it(line: str) -> None:
    assert [patch.path for patch in parse_diff(f"{line}\n{ONE}")] == ["x"]
    assert [patch.path for patch in parse_diff(f"{ONE}\n{line}\n")] == ["x"]


@pytest.mark.parametrize(
    ("base", "old", "new", "expected"),
    [
        (b"a\nb", "b", "B\nC", b"a\nB\nC"),
        (b"a\nb\n", "b\n", "B", b"a\nB"),
        (b"a\nb", "a\nb", "c", b"c"),
        (b"", "", "x\n", b"x\n"),
        (b"a\n  b\n", "b\n", "B\nC\n", b"a\n  B\nC\n"),
        (b"  a\n    b\n", "a\n  b\n", "a\n  c\n", b"  a\n    c\n"),
        (b"x\n\ty\nz\n", "x\n  y\n", "x\n  w\n", b"x\n\tw\nz\n"),
    ],
)
def test_a_text_is_put_in_the_place_of_another_to_the_letter(base: bytes, old: str, new: str, expected: bytes) -> None:
    assert replaced(base, old, new) == expected


@pytest.mark.parametrize(
    ("base", "old", "new", "why"),
    [
        ("aé\n", "a", "€", "The file is read as latin-1, and the new text has characters that it cannot hold."),
        ("n\nnew line\n", "old line", "new line", "but the new one is, at line 2. It seems to be done already."),
        ("new line\n", "old line", "new line", "but the new one is, at line 1. It seems to be done already."),
        ("a\n" * 11, "a", "b", "at 11 places (from the lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...)."),
        ("a\n" * MOST_PLACES, "a", "b", f"at {MOST_PLACES} places"),
        ("a\n" * (MOST_PLACES + 1), "a", "b", f"at more than {MOST_PLACES} places"),
        ("a\n", "  ", "b", "The file has no such white space."),
        ("  a\n", "b", "c", "it has no line `b`."),
        ("b\na\n", "a\nb", "c", "it has its lines, but nowhere one after the other."),
        ("a\n\tb\n", "  b\n", "   c\n", "The text stands at line 2 but for white space, and the right indentation"),
    ],
)
def test_a_text_that_is_not_replaced_is_answered_with_the_reason(base: str, old: str, new: str, why: str) -> None:
    with pytest.raises(PatchRefused) as refused:
        replaced(base.encode("latin-1"), old, new)
    assert why in str(refused.value)
