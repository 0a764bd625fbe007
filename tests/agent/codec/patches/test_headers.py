"""The lines of a diff that say which file it is about, each by itself: a table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.patches import PatchUnreadable, made_diff, parse_diff
from codec.agent.patches.diff_headers import (
    git_paths,
    header_path,
    one_path,
    permission_bits,
    quoted,
    unquoted,
)


@pytest.mark.parametrize(
    ("rest", "path"),
    [
        ("a/x", "a/x"),
        (" a/x \r", "a/x"),
        ("a/x y", "a/x y"),
        ("a/x y\t", "a/x y"),
        ("a/x\t2024-01-02 03:04:05.678 +0100", "a/x"),
        ("a/x  2024-01-02 03:04:05 +0100", "a/x"),
        ("a/x 2024-01-02T03:04", "a/x"),
        ("a/2024-01-02", "a/2024-01-02"),
        ('"a/\\303\\251\\t\\"\\\\"', 'a/é\t"\\'),
        ('"a/x"\t2024', "a/x"),
        ('"a/x', '"a/x'),
    ],
)
def test_a_path_is_read_without_its_time_and_its_quotes(rest: str, path: str) -> None:
    assert header_path(rest) == path


@pytest.mark.parametrize(
    ("rest", "paths"),
    [
        ("a/x b/x", ("a/x", "b/x")),
        ("a/x b/y", ("a/x", "b/y")),
        ("a/x y b/x y", ("a/x y", "b/x y")),
        ("x y x y", ("x y", "x y")),
        ("a/x y b/z", None),
        ("a/x y b/x z", None),
        ("a/x", None),
        ('"a/\\303\\251" "b/\\303\\251"', ("a/é", "b/é")),
        ('"a/\\t" b/x', ("a/\t", "b/x")),
        ('a/x "b/\\t"', ("a/x", "b/\t")),
        (" a/x b/x \r", ("a/x", "b/x")),
    ],
)
def test_both_paths_of_git_are_told_apart_or_not_at_all(rest: str, paths: tuple[str, str] | None) -> None:
    assert git_paths(rest) == paths


@pytest.mark.parametrize(
    ("old", "new", "path", "action"),
    [
        ("a/x", "b/x", "x", "modify"),
        ("x", "x", "x", "modify"),
        ("a/x", "a/x", "a/x", "modify"),
        ("a/x", "x", "x", "modify"),
        ("x", "b/x", "x", "modify"),
        ("i/x", "w/x", "x", "modify"),
        ("1/x", "2/x", "x", "modify"),
        ("x.orig", "x", "x", "modify"),
        ("a/x~", "b/x", "x", "modify"),
        ("x.old", "x", "x", "modify"),
        ("./x", "././x", "x", "modify"),
        ("a/./x", "b/x", "x", "modify"),
        (None, "b/x", "x", "modify"),
        ("a/x", None, "x", "modify"),
        ("/dev/null", "b/x", "x", "create"),
        ("/dev/null", "x", "x", "create"),
        ("a/x", "/dev/null", "x", "delete"),
        ("/dev/null", "b/", "b/", "create"),
    ],
)
def test_two_headers_speak_of_one_file(old: str | None, new: str | None, path: str, action: str) -> None:
    assert one_path(old, new) == (path, action)


NO_FILE = r"^A file's header names no file\. Write `--- a/PATH` and `\+\+\+ b/PATH` before its hunks\.$"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (None, None, NO_FILE),
        ("/dev/null", "/dev/null", NO_FILE),
        ("/dev/null", None, NO_FILE),
        ("", "", NO_FILE),
        ("./", "./", NO_FILE),
        ("a/x", "b/y", 'from "x" to "y"'),
        ("a/x", "b/x.orig", "not renamed"),
        ("q/x", "b/x", 'from "q/x" to "x"'),
        ("a/", "b/", 'from "a/" to "b/"'),
    ],
)
def test_headers_that_speak_of_none_or_of_two_are_refused(old: str | None, new: str | None, why: str) -> None:
    with pytest.raises(PatchUnreadable, match=why):
        one_path(old, new)


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("a b", "a b"),
        ("é", "é"),
        ('a "b', '"a \\"b"'),
        ("a\t b\\", '"a\\t b\\\\"'),
        ("\x01\x1f\x7f ~", '"\\001\\037\\177 ~"'),
    ],
)
def test_a_path_is_quoted_only_if_it_has_to_be_and_then_as_git_does(path: str, written: str) -> None:
    assert quoted(path) == written


@given(st.text(max_size=20))
def test_what_is_quoted_is_read_as_it_was(path: str) -> None:
    path = path.encode("utf-8", "replace").decode()
    written = quoted(path)
    assert "\n" not in written
    assert (unquoted(written) if written != path else path) == path
    assert header_path(quoted(f"a/{path}\t")) == f"a/{path}\t"


@pytest.mark.parametrize(
    ("mode", "bits"),
    [("100644", None), ("100600", None), ("100755", 0o755), ("100744", 0o755), ("100654", 0o755), ("100645", 0o755)],
)
def test_a_plain_file_is_one_that_is_run_or_one_that_is_not(mode: str, bits: int | None) -> None:
    assert permission_bits(mode) == bits


@pytest.mark.parametrize("mode", ["120000", "160000", "040000", "0100644", "644", "", "100888", "10064", "rw-r--"])
def test_what_is_no_plain_file_is_refused(mode: str) -> None:
    with pytest.raises(PatchUnreadable, match="Only plain files"):
        permission_bits(mode)


@pytest.mark.parametrize(
    ("before", "after", "sides"),
    [
        (b"\0", b"a", '"a/\\t" and "b/\\t"'),
        (None, b"\0", '/dev/null and "b/\\t"'),
        (b"\0", None, '"a/\\t" and /dev/null'),
    ],
)
def test_a_diff_of_what_is_no_text_names_both_sides(before: bytes | None, after: bytes | None, sides: str) -> None:
    made = made_diff("\t", before, after)
    assert not made.exact
    assert made.diff.endswith(f"\nBinary files {sides} differ\n")
    spaced = made_diff("a b", before, after)
    assert "\t" not in spaced.diff
    with pytest.raises(PatchUnreadable, match="binary"):
        parse_diff(made.diff)
