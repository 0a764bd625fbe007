"""What a diff is made from, applying it gives again, byte for byte: whatever its lines, their ends and encoding are."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codec.agent.patches import applied, made_diff, parse_diff

LINES = st.sampled_from(
    [
        "",
        " ",
        "a",
        "b",
        "c",
        "}",
        "\t}",
        "-- x",
        "++ y",
        "-- a/x",
        "@@ -1 +1 @@",
        "\\ no",
        "a\rb",
        "é",
        "```",
        " a",
        "\x0c",
        "\u2028",
    ]
)
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    lines = draw(st.lists(LINES, max_size=12))
    end = draw(ENDS)
    mixed = draw(st.booleans()) and draw(st.booleans())
    text = "".join(line + (draw(ENDS) if mixed else end) for line in lines)
    return text.removesuffix(end) if draw(st.booleans()) else text


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, str]:
    """A file before and after; mostly with much in common."""
    before = draw(texts())
    if draw(st.booleans()):
        return before, draw(texts())
    lines = before.split("\n")
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(lines)))
        lines[at : at + draw(st.integers(0, 2))] = draw(st.lists(LINES, max_size=2))
    return before, "\n".join(lines)


@given(edited(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le-bom"]))
@example(("a\nb", "a\nb\n"), "utf-8")
@example(("", "a"), "utf-8")
@example(("a\rb\r", "a\nb\n"), "utf-8")
def test_a_diff_gives_what_it_was_made_from(pair: tuple[str, str], encoding: str) -> None:
    before, after = (
        b"\xff\xfe" + text.encode("utf-16-le") if encoding == "utf-16-le-bom" else text.encode(encoding)
        for text in pair
    )
    made = made_diff("src/a b.py", before, after)
    assert made.exact
    if before == after:
        assert made.diff == ""
        return
    (patch,) = parse_diff(made.diff)
    assert (patch.path, patch.action, patch.hunks) == ("src/a b.py", patch.action, made.hunks)
    result = applied(before, patch)
    assert result.data == after
    assert {each.outcome for each in result.outcomes} <= {"applied"}
    (fenced,) = parse_diff(f"Here it is:\n\n```diff\n{made.diff}```\nThat is all.\n- really\n")
    assert fenced == patch


@pytest.mark.parametrize(("apart", "hunks"), [(1, 1), (6, 1), (7, 2), (8, 2)])
def test_changes_are_in_one_hunk_if_the_lines_around_them_touch(apart: int, hunks: int) -> None:
    lines = [f"{number}\n" for number in range(30)]
    changed = [*lines]
    changed[10], changed[10 + apart + 1] = "x\n", "y\n"
    made = made_diff("a", "".join(lines).encode(), "".join(changed).encode())
    assert len(made.hunks) == hunks
    assert [hunk.old_start for hunk in made.hunks] == [8, 12 + apart - 3][:hunks]
    assert sum(hunk.old_lines for hunk in made.hunks) == (14 if hunks == 2 else 8 + apart)


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_any_bytes_make_a_diff_that_says_whether_it_is_exact(before: bytes, after: bytes) -> None:
    made = made_diff("x", before, after)
    if made.exact and made.diff:
        assert applied(before, parse_diff(made.diff)[0]).data == after


@given(st.one_of(st.none(), texts()), st.one_of(st.none(), texts()))
def test_files_come_and_go(before: str | None, after: str | None) -> None:
    one, other = (None if text is None else text.encode() for text in (before, after))
    if one == other:
        return
    made = made_diff("x", one, other)
    (patch,) = parse_diff(made.diff)
    assert patch.action == ("create" if one is None else "delete" if other is None else "modify") or (not one)
    assert applied(one, patch).data == other
