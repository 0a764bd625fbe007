"""The tools that a model may call."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.agent.given import FileRefused, FileText
from actors.agent.hand_tools import HAND_SPECS, HAND_TOOLS
from actors.agent.tools import LONGEST_RESULT, SPECS, TOOLS, BadCall, Told, checked
from actors.kernel.testing import run_in_virtual_time
from tests.agent.turn_kit import MemoryTree

FILES = {
    "src/auth.py": "import db\n\n\ndef login(user):\n    return db.find(user)\n",
    "src/Login.ts": "export class Login {}\nexport const logins = 1\n",
    "long.txt": "word\n" * 10_000,
    ".env": "KEY=plainvalue\n",
    "empty": "",
}


def used(tool: str, /, tree: MemoryTree | None = None, **arguments: Any) -> Told:
    found = list[Told]()

    async def play() -> None:
        use = TOOLS[tool].use
        assert use is not None
        found.append(await use(tree or MemoryTree(FILES), checked(TOOLS[tool], arguments)))

    run_in_virtual_time(play)
    return found[0]


TEXTS = [
    ("read_file", {"file_path": "src/auth.py", "first_line": 4, "last_line": 4},
     "src/auth.py, lines 4 to 4 of 5:\n4\tdef login(user):"),
    ("read_file", {"file_path": "empty"}, "empty is empty."),
    ("read_file", {"file_path": ".env"}, ".env, lines 1 to 1 of 1:\n1\tKEY=***"),
    ("list_files", {}, "4 entries in the workspace:\n.env\nempty\nlong.txt\nsrc/"),
    ("list_files", {"folder": "./src/"}, "2 entries in src:\nsrc/Login.ts\nsrc/auth.py"),
    ("search_text", {"query": "find"}, "1 file for: find\nsrc/auth.py (1 line)\n  5\treturn db.find(user)"),
    ("search_text", {"query": "plainvalue"}, "1 file for: plainvalue\n.env (1 line)\n  1\tKEY=***"),
    ("search_text", {"query": "quux"}, "No file of the workspace has: quux"),
    ("search_symbols", {"name": "Auth.login"},
     "2 definitions for: Auth.login\nsrc/auth.py:4\tfunction login\tdef login(user):\n"
     "src/Login.ts:1\tclass Login\texport class Login {}"),
    ("vector_search", {"query": "find"},
     "There is no embedding model, so nothing was searched by its meaning. The words are found here:\n"
     "1 file for: find\nsrc/auth.py (1 line)\n  5\treturn db.find(user)"),
    ("search_symbols", {"name": "quux"}, "No definition of quux was found."),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "text"), TEXTS, ids=[f"{tool} {given}" for tool, given, _ in TEXTS])
def test_a_tool_tells_what_it_found(tool: str, arguments: dict[str, Any], text: str) -> None:
    told = used(tool, **arguments)
    assert told.text == text


def test_a_long_file_is_cut_and_the_model_is_told_where_to_go_on() -> None:
    told = used("read_file", file_path="long.txt")
    assert len(told.text) < 2 * LONGEST_RESULT
    assert told.more["cut"]
    following = int(told.text.rpartition("first_line ")[2].removesuffix(".]"))
    assert told.text.split("\n")[-2].startswith(f"{following - 1}\t")
    again = used("read_file", file_path="long.txt", first_line=following)
    assert again.text.split("\n")[1].startswith(f"{following}\t")


@pytest.mark.parametrize("first", range(1, 7))
@pytest.mark.parametrize("last", range(1, 7))
def test_of_a_file_exactly_the_lines_are_told_that_were_asked_for(first: int, last: int) -> None:
    if last < first:
        with pytest.raises(BadCall, match=rf"last_line \({last}\) is before first_line \({first}\)"):
            used("read_file", file_path="src/auth.py", first_line=first, last_line=last)
        return
    _, *lines = used("read_file", file_path="src/auth.py", first_line=first, last_line=last).text.splitlines()
    whole = FILES["src/auth.py"].splitlines()
    assert lines == [f"{number}\t{whole[number - 1]}" for number in range(first, min(last, len(whole)) + 1)]


class Vanishing(MemoryTree):
    """In which one file is found, and cannot be read any more."""

    def __init__(self, gone: str) -> None:
        super().__init__({f"{name}.py": f"def login_by_{name}(): ...\n" for name in "abc"})
        self.gone = gone

    async def read(self, path: str, **how: Any) -> FileText:
        if path == self.gone:
            raise FileRefused(f"{path} is not there.")
        return await super().read(path, **how)


@pytest.mark.parametrize("gone", ["a.py", "b.py", "c.py"])
def test_a_file_that_goes_between_the_search_and_the_look_defines_nothing(gone: str) -> None:
    told = used("search_symbols", name="login", tree=Vanishing(gone))
    assert [line.partition(":")[0] for line in told.text.splitlines()[1:]] == sorted({"a.py", "b.py", "c.py"} - {gone})


def test_a_search_for_no_word_is_refused() -> None:
    with pytest.raises(BadCall, match="query has no words"):
        used("search_text", query=" \t")


def test_a_refused_file_is_refused_to_the_caller() -> None:
    with pytest.raises(FileRefused, match="outside of the workspace"):
        used("read_file", file_path="../x")


WRONG = [
    ("read_file", None, "the arguments have to be an object, and were null. read_file takes file_path (string), "),
    ("read_file", [1], "the arguments have to be an object, and were an array."),
    ("read_file", "{", "the arguments are no JSON."),
    ("read_file", '"a"', "the arguments have to be an object, and were a string."),
    ("read_file", {"file_path": ""}, "Expected `str` of length >= 1 - at `file_path`"),
    ("read_file", {"file_path": "a", "first_line": 0}, "Expected `int` >= 1 - at `first_line`"),
    ("list_files", {"deep": "perhaps"}, "Expected `bool`, got `str` - at `deep`. list_files takes folder (string, "),
    ("update_plan", {"steps": ["look"]}, "Expected `object`, got `str` - at `steps[0]`"),
    ("update_plan", {}, "Object missing required field `steps`. update_plan takes steps (array), current_step ("),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "said"), WRONG)
def test_wrong_arguments_are_told_with_what_the_tool_takes(tool: str, arguments: Any, said: str) -> None:
    with pytest.raises(BadCall) as error:
        checked(TOOLS[tool], arguments)
    assert str(error.value).startswith(said)


def test_arguments_that_are_nearly_right_are_taken() -> None:
    wanted: Any = checked(TOOLS["read_file"], '{"file_path": "a", "first_line": "7", "other": 1}')
    assert (wanted.file_path, wanted.first_line, wanted.last_line) == ("a", 7, None)
    listing: Any = checked(TOOLS["list_files"], "")
    assert listing.folder == ""


EVERY = {**TOOLS, **HAND_TOOLS}


@given(st.sampled_from(sorted(EVERY)), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["file_path", "steps", "name", "description"]) | st.text(max_size=5), inner),
))  # fmt: skip
def test_no_arguments_break_the_check(tool: str, arguments: Any) -> None:
    told = ""
    try:
        made: object = checked(EVERY[tool], arguments)
    except BadCall as error:
        made, told = None, str(error)
    assert isinstance(made, EVERY[tool].arguments) or f"{tool} takes" in told


def test_tools_with_hands_have_no_way_to_the_tree_alone_and_every_schema_stands_alone() -> None:
    assert [tool.name for tool in TOOLS.values() if tool.use is None] == []
    assert [tool.name for tool in HAND_TOOLS.values() if tool.use is not None] == []
    for spec in (*SPECS, *HAND_SPECS):
        assert spec.parameters["type"] == "object"
        assert "$ref" not in repr(spec.parameters)
        assert set(spec.parameters["required"]) <= set(spec.parameters["properties"])
