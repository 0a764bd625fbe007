"""Diffs as models write them are read, or refused in a sentence that says what to write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.patches import FilePatch, PatchUnreadable, applied, parse_diff

BODY = " a\n-b\n+B\n c\n"
PLAIN = f"--- a/src/x.py\n+++ b/src/x.py\n@@ -1,3 +1,3 @@\n{BODY}"

READ_ALIKE = {
    "as git has it": f"diff --git a/src/x.py b/src/x.py\nindex 83db48f..bf269f4 100644\n{PLAIN}",
    "without a/ and b/": PLAIN.replace("a/src", "src").replace("b/src", "src"),
    "with git's mnemonic prefixes": PLAIN.replace("a/src", "i/src").replace("b/src", "w/src"),
    "with ./": PLAIN.replace("a/src", "./src").replace("b/src", "./src"),
    "the new path alone": f"+++ b/src/x.py\n@@ -1,3 +1,3 @@\n{BODY}",
    "the old path alone": f"--- a/src/x.py\n@@ -1,3 +1,3 @@\n{BODY}",
    "with timestamps": PLAIN.replace("x.py\n", "x.py\t2025-01-01 10:00:00.000000000 +0100\n"),
    "with timestamps after spaces": PLAIN.replace("x.py\n", "x.py 2025-01-01 10:00:00 +0100\n"),
    "an original": PLAIN.replace("a/src/x.py", "src/x.py.orig").replace("b/src", "src"),
    "quoted": PLAIN.replace("a/src/x.py", '"a/src/x.py"').replace("b/src/x.py", '"b/src/\\170.py"'),
    "with CRLF throughout": PLAIN.replace("\n", "\r\n"),
    "no newline at its end": PLAIN.removesuffix("\n"),
    "blank lines after it": PLAIN + "\n\n",
    "in a fence": f"Here:\n```diff\n{PLAIN}```\n- done\n+ more\n",
    "in a fence of another name": f"~~~~\n{PLAIN}~~~~\n",
    "in a fence that is not closed": f"```patch\n{PLAIN}",
    "after a fence without a diff": f"```sh\nls -l\n```\n```diff\n{PLAIN}```\n",
    "between prose": f"I change b.\n\n{PLAIN}\nThis is all.\n",
    "as a mail": f"From 1 Mon\nSubject: x\n---\n x.py | 2 +-\n\n{PLAIN}-- \n2.39.5\n",
    "without counts": PLAIN.replace("@@ -1,3 +1,3 @@", "@@ -1 +1 @@"),
    "with counts that are too small": PLAIN.replace("-1,3 +1,3", "-1,1 +1,2"),
    "with counts that are too large": PLAIN.replace("-1,3 +1,3", "-1,9 +1,12"),
    "with counts that lead to a line's middle": PLAIN.replace("-1,3 +1,3", "-1,2 +1,2"),
    "with a section": PLAIN.replace("+1,3 @@", "+1,3 @@ def f():"),
    "without the last @@": PLAIN.replace("+1,3 @@", "+1,3"),
    "with Index:": f"Index: src/x.py\n{'=' * 67}\n{PLAIN}",
}


@pytest.mark.parametrize("text", READ_ALIKE.values(), ids=list(READ_ALIKE))
def test_a_diff_is_read_however_it_is_written(text: str) -> None:
    (expected,) = parse_diff(PLAIN)
    (patch,) = parse_diff(text)
    assert (patch.path, patch.action, patch.mode) == ("src/x.py", "modify", None)
    assert [hunk.content for hunk in patch.hunks] == [BODY]
    assert [(hunk.old_start, hunk.old_lines, hunk.new_lines) for hunk in patch.hunks] == [(1, 3, 3)]
    assert patch == expected
    assert applied(b"a\nb\nc\n", patch).data == b"a\nB\nc\n"


def test_blank_context_whose_space_was_lost_is_context() -> None:
    (patch,) = parse_diff("--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n a\n\n-b\n+B\n\n\n")
    assert patch.hunks[0].content == " a\n \n-b\n+B\n \n"
    assert applied(b"a\n\nb\n\nc\n", patch).data == b"a\n\nB\n\nc\n"


def test_a_hunk_without_a_line_fits_where_it_alone_fits() -> None:
    for header in ("@@", "@@ ... @@", "@@ def f():"):
        (patch,) = parse_diff(f"--- a/x\n+++ b/x\n{header}\n{BODY}")
        assert applied(b"0\na\nb\nc\n", patch).data == b"0\na\nB\nc\n"


def test_lines_that_look_like_headers_belong_to_their_hunk() -> None:
    body = " a\n--- old\n+++ new\n c\n"
    (patch,) = parse_diff(f"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n{body}")
    assert patch.hunks[0].content == body
    assert applied(b"a\n-- old\nc\n", patch).data == b"a\n++ new\nc\n"
    (other,) = parse_diff(f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n{body}")
    assert other.hunks == patch.hunks


def test_hunks_for_a_known_file_need_no_header() -> None:
    assert parse_diff(f"@@ -1,3 +1,3 @@\n{BODY}", path="src/x.py") == parse_diff(PLAIN)


def test_several_files_are_read_in_their_order() -> None:
    text = (
        f"{PLAIN}\ndiff --git a/new.txt b/new.txt\nnew file mode 100755\nindex 0000000..ce01362\n--- /dev/null\n"
        "+++ b/new.txt\n@@ -0,0 +1 @@\n+hello\n"
        "diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n"
        "diff --git a/old.txt b/old.txt\ndeleted file mode 100644\n--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n"
        "--- a/src/x.py\n+++ b/src/x.py\n@@ -9 +9 @@\n-i\n+I\n"
    )
    patches = parse_diff(text)
    assert [(each.path, each.action, each.mode, len(each.hunks)) for each in patches] == [
        ("src/x.py", "modify", None, 2),
        ("new.txt", "create", 0o755, 1),
        ("empty", "create", None, 0),
        ("old.txt", "delete", None, 1),
    ]
    assert [applied(base, each).data for base, each in zip((None, None, b"bye\n"), patches[1:], strict=True)] == [
        b"hello\n",
        b"",
        None,
    ]


def test_a_file_that_begins_with_nothing_is_created() -> None:
    (patch,) = parse_diff("--- a/x\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n")
    assert patch.action == "create"
    assert applied(None, patch).data == b"a\nb\n"


PATHS = [
    ("--- a/my file.txt\t\n+++ b/my file.txt\t\n", "my file.txt"),
    ('--- "a/f\\303\\251\\t.txt"\n+++ "b/f\\303\\251\\t.txt"\n', "fé\t.txt"),
    ("--- a/a\n+++ b/a\n", "a"),
    ("--- a/b/c\n+++ a/b/c\n", "a/b/c"),
    ("--- /dev/null\n+++ b/b/c\n", "b/c"),
    ("diff --git a/x y b/x y\nnew file mode 100644\n--- /dev/null\n+++ b/x y\n", "x y"),
]


@pytest.mark.parametrize(("header", "path"), PATHS)
def test_a_path_is_read_as_it_is_meant(header: str, path: str) -> None:
    assert parse_diff(f"{header}@@ -0,0 +1 @@\n+a\n")[0].path == path


REFUSED = {
    "": "There is no diff in it",
    "Just do it.": "There is no diff in it",
    "*** Begin Patch\n*** Update File: x\n@@\n-a\n+b\n": "it has `*** Begin Patch`",
    "*** Begin Patch\n*** Add File: x\n+b\n*** End Patch\n": "This is no unified diff: it has `*** Begin Patch`",
    "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n": "it has `<<<<<<<`",
    f"@@ -1,3 +1,3 @@\n{BODY}": "no line before it names the file",
    "--- a/x\n+++ b/x\n": "no hunks for",
    "--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n": "not renamed by a diff",
    "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n": "not renamed by a diff",
    "diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n": "not renamed by a diff",
    "diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n": "binary",
    "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKc\n": "binary",
    "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n": "only changes the mode",
    "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+y\n": "Only plain files",
    "--- a/x\n+++ b/x\n@@@ -1,2 -1,2 +1,2 @@@\n  a\n": "diff of a merge",
    "--- a/x\n+++ b/x\n@@ -1 +1 @@\n": "has no lines",
    "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\nb\n-c\n+d\n": "Line 5 of the diff, `b`, begins with neither a space nor",
    "--- a/x\n+++ b/x\n-a\n+b\n": "Line 3 of the diff, `-a`, belongs to no hunk",
    "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n@ -9 +9 @@\n-c\n+d\n": "Line 6 of the diff",
    "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n a\n+b\n": "each of its lines has to begin with +",
    "--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n a\n-b\n": "each of its lines has to begin with -",
    "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n": "names no file",
    "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\0\n": "NUL",
    f"--- /dev/null\n+++ b/src/x.py\n@@ -0,0 +1 @@\n+a\n{PLAIN}": "twice",
}


@pytest.mark.parametrize(("text", "why"), REFUSED.items())
def test_what_is_no_diff_for_us_is_refused_in_a_sentence(text: str, why: str) -> None:
    with pytest.raises(PatchUnreadable) as refusal:
        parse_diff(text)
    assert why in str(refusal.value)
    assert str(refusal.value).endswith((".", "@@`."))


LINES = r"""--- a/x|+++ b/x
--- /dev/null|@@ -1,2 +3,4 @@|@@ -0,0 +1 @@|@@| a|-b|+c|\ No newline at end of file|```|```diff
diff --git a/x b/x|"a\303|new file mode 100644|deleted file mode 1|rename from a|-- |2.3|99999999999999999"""
PIECES = st.sampled_from(
    [*"+-@ \n\r\\\x00\ufeff\ud800", *(f"{line}\n" for line in LINES.replace("\n", "|").split("|"))]
)


@given(st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join)), st.one_of(st.none(), st.binary(max_size=30)))
def test_garbage_is_refused_or_does_no_harm(text: str, base: bytes | None) -> None:
    try:
        patches = parse_diff(text)
    except PatchUnreadable:
        patches = ()
    for patch in patches:
        assert isinstance(patch, FilePatch)
        result = applied(base, patch)
        assert len(result.outcomes) == max(len(patch.hunks), 1) or not patch.hunks
        if not {"applied", "moved", "loose", "merged"} & {each.outcome for each in result.outcomes} and patch.hunks:
            assert result.data == base
        assert all(each.reason for each in result.outcomes if each.outcome == "refused")
