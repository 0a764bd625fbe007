"""Folders: which problem gets which, that none leads out, that no two are the same."""

import re
import unicodedata
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.judge.places import place
from tests.judge.payloads import PAYLOADS, Payload


@pytest.mark.parametrize("payload", PAYLOADS, ids=[f"{each.folder} {each.url[-20:]}" for each in PAYLOADS])
def test_a_problem_has_the_folder_of_its_site(payload: Payload) -> None:
    assert place(payload.url, payload.group, payload.name).id == payload.folder


SAME = [
    ("https://codeforces.com/contest/4/problem/A", "http://www.codeforces.com/problemset/problem/4/a/?locale=ru"),
    ("https://atcoder.jp/contests/dp/tasks/dp_a", "https://atcoder.jp/contests/dp/tasks/dp_a/editorial?lang=ja#top"),
    ("https://leetcode.com/problems/two-sum/", "https://leetcode.com/problems/two-sum/submissions/?envType=daily"),
    ("https://judge.example.edu/problem/Sums", "https://judge.example.edu/problem/Sums/?lang=de&utm_source=x"),
    ("https://judge.example.edu/show.php?id=1&set=2", "http://judge.example.edu:80/show.php?set=2&id=1#solution"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_problem_has_the_same_folder(one: str, other: str) -> None:
    assert place(one, "g", "n") == place(other, "g", "n")


APART = [
    "https://judge.example.edu/problem/sums",
    "https://judge.example.edu/problem/Sums",
    "https://judge.example.edu/problem/SUMS",
    "https://judge.example.edu/problem/sums?round=2",
    "https://judge.example.edu/problem/sums#/2",
    "https://judge.example.edu/de/problem/sums",
    "https://judge.example.edu/contest/1/problem/sums",
    "https://judge.example.edu/contest/1/day/2/problem/sums",
    "https://judge.example.edu:8080/problem/sums",
    "https://judge.example.org/problem/sums",
    "https://judge.example.edu/problem/sums%20",
    "https://judge.example.edu/problem/sums%2E%2E",
    "https://judge.example.edu/problem/..",
    "https://judge.example.edu/problem/%2e%2e%2fsums",
    "https://judge.example.edu/problem/con",
    "https://judge.example.edu/problem/con.txt",
    "https://codeforces.com/contest/1/problem/A",
    "https://codeforces.com/gym/1/problem/A",
    "https://codeforces.com/contest/11/problem/A",
    "https://codeforces.com/contest/x/problem/A",
]


def test_different_problems_have_folders_that_differ_by_more_than_case() -> None:
    places = [place(url, "untold", "n") for url in {*APART, *(each.url for each in PAYLOADS)}]
    found = [each for each in places if each.contest_id != "untold"]
    assert len(found) == len(places) - 2  # one payload has no address, and one an address that says nothing
    assert len({each.id.casefold() for each in found}) == len({each.identity for each in found}) > 60


TITLES = ["A+B", "A-B", "A*B", "数列", "数", "", "…", "a" * 300, "a" * 301, "con", "NUL.txt", "x/../../y"]


def test_titles_that_read_differently_have_different_folders() -> None:
    assert len({place("", "Group", title).task_id.casefold() for title in TITLES}) == len(TITLES)


@pytest.mark.parametrize(("one", "other"), [("数列", "数列!?"), ("A-B", "A (B)"), ("sums", "Sums")])
def test_titles_that_read_alike_are_told_apart_by_what_the_folder_recorded(one: str, other: str) -> None:
    first, second = place("", "Group", one), place("", "Group", other)
    assert first.id == second.id
    assert first.identity != second.identity


def test_unicode_has_one_form() -> None:
    composed, decomposed = "Ünal", unicodedata.normalize("NFD", "Ünal")
    assert place("", "g", composed).id == place("", "g", decomposed).id


def test_the_next_place_of_a_name_is_numbered() -> None:
    first = place("", "School", "Sums")
    assert [first.numbered(number).id for number in (1, 2, 3)] == ["school/sums", "school/sums-2", "school/sums-3"]
    assert first.numbered(2).identity == first.identity


def is_safe(name: str) -> bool:
    return (
        0 < len(name.encode()) <= 255
        and not set(name) & set('/\\:*?"<>|\x00')
        and name.isprintable()
        and name[0] not in "-. "
        and name[-1] not in ". "
        and not PureWindowsPath(name).is_reserved()
        and re.match(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)", name) is None
        and name == unicodedata.normalize("NFC", name)
    )


TRAPS = [
    "https://atcoder.jp/contests/../tasks/..",
    "https://atcoder.jp/contests/%2e%2e/tasks/%2Fetc%2Fpasswd",
    "https://atcoder.jp/contests/a%00b/tasks/c%5Cd",
    "https://atcoder.jp/contests/aux/tasks/con.in",
    "https://atcoder.jp/contests/.git/tasks/hooks.",
    "https://atcoder.jp/contests/-rf/tasks/~",
    "https://atcoder.jp/contests/%EF%BC%8E%EF%BC%8E/tasks/%E2%84%80",
    f"https://atcoder.jp/contests/{'a' * 1000}/tasks/{'%E6%95%B0' * 300}",
    "https://[/contests/a/tasks/b",
    "https://atcoder.jp:port/contests/a/tasks/b",
    "//atcoder.jp/contests/a/tasks/b",
    "https://con/problem/nul",
]


@pytest.mark.parametrize("url", TRAPS)
def test_no_address_leads_out_of_the_workspace(url: str) -> None:
    found = place(url, "g", "n")
    assert is_safe(found.contest_id), found
    assert is_safe(found.task_id), found


pieces = st.text(max_size=80) | st.sampled_from(["..", ".", "", "CON", "com1.x", "a/b", "%2e%2e", "ℵ", "ﬁ", "e\u0301"])
urls = st.builds(
    "{}://{}/{}/{}/{}/{}".format,
    st.sampled_from(["http", "https", "ftp"]),
    st.sampled_from(["atcoder.jp", "codeforces.com", "x.kattis.com", "example.com", "exämple.com", "[::1]:80", ""]),
    st.sampled_from(["contests", "contest", "gym", "d", ""]),
    pieces,
    st.sampled_from(["tasks", "problem", "problems", ""]),
    pieces,
)


@pytest.mark.slow
@settings(max_examples=250, deadline=None)
@given(urls | pieces, pieces, pieces)
def test_whatever_is_posted_gets_a_safe_folder(url: str, group: str, name: str) -> None:
    found = place(url, group, name)
    assert is_safe(found.contest_id), found
    assert is_safe(found.task_id), found
    assert found == place(url, group, name)
    assert found.id == str(PurePosixPath(found.contest_id) / found.task_id)
    assert len(found.numbered(99).task_id.encode()) <= 255


layouts = st.sampled_from(["contests/{}/tasks/{}", "contest/{}/problem/{}", "gym/{}/problem/{}", "c/{}/x/p/{}?{}"])
hosts = st.sampled_from(["atcoder.jp", "codeforces.com", "x.kattis.com", "qoj.ac", "example.com", "example.com:81"])
quoted = (st.text(min_size=1, max_size=80) | st.text("aAbB-.1 ", min_size=1, max_size=4)).map(
    lambda text: quote(text, "")
)
told = st.builds(
    lambda host, layout, *ids: f"https://{host}/{layout.format(*ids)}", hosts, layouts, quoted, quoted, quoted
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(told, told)
@example("https://x.kattis.com/contests/0/tasks/0", "https://x.kattis.com/contest/0/problem/0")
def test_addresses_that_name_different_problems_get_different_folders(one: str, other: str) -> None:
    first, second = place(one, "untold", "n"), place(other, "untold", "n")
    if first.identity.casefold() != second.identity.casefold():
        assert first.id.casefold() != second.id.casefold()
