import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.findings import (
    LONGEST_SHOWN,
    FileExcerpt,
    FoundPlace,
    definitions_text,
    entries_text,
    file_text,
    hits_text,
    read_definitions_text,
    read_entries_text,
    read_file_text,
    read_hits_text,
    read_run_text,
    run_text,
)
from codec.agent.symbols import Definition

line = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=30)
path = st.text("abc/_. (1)", min_size=1, max_size=12).map(lambda text: f"x{text.strip()}y")
number = st.integers(1, 99_999)


@given(path, st.lists(line, min_size=1, max_size=5), number)
def test_lines_of_a_file_are_read_back(name: str, lines: list[str], first: int) -> None:
    text = "\n".join(lines) + "\n"
    if text == "\n":
        lines = [""]
    found = read_file_text(file_text(name, text, first, first + len(lines) - 1))
    assert found is not None
    assert (found.path, found.first_line, found.lines) == (name, first, tuple(lines))


@given(st.lists(st.tuples(path, number, st.lists(st.tuples(number, line), max_size=3)), max_size=4))
def test_hits_are_read_back(hits: list[tuple[str, int, list[tuple[int, str]]]]) -> None:
    read = list(read_hits_text(hits_text(["a", "b"], hits, 50)))
    assert [(each.path, each.line, each.what) for each in read] == [
        (name, each, text.strip()) for name, _, lines in hits for each, text in lines
    ]


@given(
    st.lists(st.tuples(path, st.builds(Definition, st.just("login"), st.just("function"), number, line)), max_size=4)
)
def test_definitions_are_read_back(found: list[tuple[str, Definition]]) -> None:
    read = list(read_definitions_text(definitions_text("login", found)))
    assert [(each.path, each.line, each.kind, each.name, each.what) for each in read] == [
        (name, each.line, each.kind, each.name, each.text) for name, each in found
    ]


def test_entries_are_read_back_and_what_is_not_there_is_said() -> None:
    assert read_entries_text(entries_text("", [("src/", 0), ("a.py", 3)], 2)) == ("src/", "a.py")
    assert read_entries_text(entries_text("", [], 2)) == ()
    assert entries_text("src", [], 2) == "src has no files."
    assert hits_text(["login"], [], 5) == "No file of the workspace has: login"
    assert definitions_text("login", []) == "No definition of login was found."
    assert file_text("a.py", "", 1, 0) == "a.py is empty."
    assert file_text("a.py", "", 9, 3) == "a.py has 3 lines; there is nothing from line 9 on."


@pytest.mark.parametrize(
    ("count", "most", "heading", "more"),
    [
        (1, 2, "1 file for: a, b", ""),
        (2, 2, "2 files (there may be more) for: a, b", "\n(the first 2; name a folder to see the rest)"),
        (2, 1, "2 files (there may be more) for: a, b", "\n(the first 1; name a folder to see the rest)"),
        (2, 3, "2 files for: a, b", ""),
    ],
)
def test_that_there_may_be_more_is_said_if_as_many_were_found_as_may_be(
    count: int, most: int, heading: str, more: str
) -> None:
    hits = [(f"{number}.py", 1, [(3, " x ")]) for number in range(count)]
    assert hits_text(["a", "b"], hits, most) == "\n".join(
        [heading, *(f"{number}.py (1 line)\n  3\tx" for number in range(count))]
    )
    entries = [(f"{number}.py", 1) for number in range(count)]
    counted = "1 entry" if count == 1 else f"{count} entries"
    listed = "\n".join(path for path, _ in entries)
    assert entries_text("src", entries, most) == f"{counted} in src:\n{listed}{more}"
    assert read_entries_text(entries_text("", entries, most)) == tuple(path for path, _ in entries)


@pytest.mark.parametrize(("length", "shown"), [(LONGEST_SHOWN, LONGEST_SHOWN), (LONGEST_SHOWN + 1, LONGEST_SHOWN)])
def test_a_long_line_is_cut(length: int, shown: int) -> None:
    (hit,) = read_hits_text(hits_text(["x"], [("a.py", 1, [(1, "x" * length)])], 9))
    (definition,) = read_definitions_text(definitions_text("x", [("a.py", Definition("x", "class", 1, "x" * length))]))
    assert len(hit.what) == len(definition.what) == shown


def test_a_file_says_which_of_how_many_lines_it_shows() -> None:
    assert file_text("a.py", "b\n\nc\n", 2, 9) == "a.py, lines 2 to 4 of 9:\n2\tb\n3\t\n4\tc"
    assert file_text("a.py", "b\nc", 1, 1) == "a.py, lines 1 to 2 of 2:\n1\tb\n2\tc"  # it has grown meanwhile
    assert read_file_text(file_text("a.py", "b\tx\n", 2, 9)) == FileExcerpt("a.py", 2, ("b\tx",), 9)
    assert read_file_text("a.py, lines 1 to 2 of 2:\n1\tb\n(cut)\n2\tc") == FileExcerpt("a.py", 1, ("b", "c"), 2)
    assert read_file_text("a.py is empty.") is None
    assert str(FoundPlace("a.py", 3)) == "a.py:3"


said = st.text("ab [](\n", max_size=12)


@given(said, said, st.integers(-20, 300) | st.none())
def test_a_run_is_read_back_but_for_white_space(out: str, err: str, code: int | None) -> None:
    streams = [("stdout", out), ("stderr", err)]
    excerpt = read_run_text(run_text("make\nall", f"It ended with exit code {code}.", streams))
    assert excerpt is not None
    assert (excerpt.command, excerpt.ended) == ("make\nall", f"It ended with exit code {code}.")
    assert excerpt.exit_code == code
    told = [(stream, text.rstrip()) for stream, text in streams if text.strip()]
    assert [(stream, text.rstrip()) for stream, text in excerpt.outputs] == told
    assert excerpt.stdout.rstrip() == (out.rstrip() if out.strip() else "")


@pytest.mark.parametrize("ended", ["It could not be started: no.", "It did not end in 3 s, and was stopped."])
def test_a_run_that_did_not_end_by_itself_has_no_exit_code(ended: str) -> None:
    told = run_text("x", ended, [("stdout", " "), ("stderr", "")])
    assert told == f"$ x\n{ended}\nIt has said nothing."
    excerpt = read_run_text(told)
    assert excerpt is not None
    assert (excerpt.ended, excerpt.exit_code, excerpt.outputs, excerpt.stdout) == (ended, None, (), "")


def test_other_texts_are_no_runs() -> None:
    assert read_run_text("$ x\nIt is running.") is None
