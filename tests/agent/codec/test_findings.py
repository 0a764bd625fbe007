from hypothesis import given
from hypothesis import strategies as st

from codec.agent.findings import (
    definitions_text,
    entries_text,
    file_text,
    hits_text,
    read_definitions_text,
    read_entries_text,
    read_file_text,
    read_hits_text,
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
