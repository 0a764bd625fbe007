"""The embedded model in whole turns: what it says of a workspace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.agent.tools import SPECS, TOOLS, checked
from actors.kernel.testing import run_in_virtual_time
from codec.agent.builtin import deltas
from codec.agent.context import ActiveEditor, Diagnostic, EditorContext, TerminalOutput, TextPosition, TextSelection
from codec.agent.events import PlanPresented, ServerError, ToolExecute
from codec.agent.findings import definitions_text, hits_text
from codec.agent.material import STEERED, UPDATED
from codec.agent.models import CalledTool, Finished, ModelConfig, ModelMessage, ModelRequest, SaidText, ToolCall
from codec.agent.symbols import Definition
from tests.agent.turn_kit import Heard, Script, whole

FILES = {
    "src/auth.py": "import db\n\n\ndef login(user):\n    '''Lets a user in.'''\n    return db.find(user)\n",
    "src/app.py": "from auth import login\n\nlogin(3)\n",
    "src/tree.go": "// Tree is a binary tree.\n// It is sorted.\ntype Tree struct {\n\tleft *Tree\n}\n",
    "tests/test_auth.py": "from auth import login\n\n\ndef test_login():\n    login(1)\n",
}
BUILTIN = ModelConfig(provider="builtin")
SELECTED = EditorContext(
    active_editor=ActiveEditor(
        file_path="src/auth.py", selection=TextSelection(TextPosition(3, 0), TextPosition(5, 3))
    ),
    diagnostics=(Diagnostic(file_path="src/auth.py", message="'db' is not defined", line=5),),
    terminal_output=TerminalOutput(command="pytest", exit_code=1, stdout="1 failed"),
)


def answered(message: str, files: dict[str, str] | None = None, context: EditorContext | None = None) -> Heard:
    found = list[Heard]()

    async def play() -> None:
        found.append(await whole(message, Script(), FILES if files is None else files, model=BUILTIN, context=context))

    run_in_virtual_time(play)
    heard = found[0]
    assert heard.of(ServerError) == []
    assert {each.status for each in heard.of(ToolExecute)} <= {"started", "completed"}
    assert heard.final.metadata.success
    assert heard.final.metadata.tokens_used == 0
    return heard


def test_a_question_is_answered_by_the_definition_its_comment_and_who_mentions_it() -> None:
    heard = answered("What does login do?")
    assert heard.final.message.startswith(
        "`login` is a function, defined in `src/auth.py:4`.\n\nIts comment says: Lets a user in.\n\n```python\ndef"
    )
    for place in ("`src/app.py:1`", "`src/app.py:3`", "`tests/test_auth.py:5`"):
        assert place in heard.final.message
    assert "choose a model" in heard.final.message
    assert heard.final.metadata.tools_used == ("update_plan", "search_symbols", "search_text", "read_file")
    assert [plan.current_step for plan in heard.of(PlanPresented)] == [1, 3]


@pytest.mark.parametrize("name", ["auth.py", "`auth.py`", "@src/auth.py", "src/auth.py"])
def test_a_file_that_is_named_is_told_and_not_looked_for_as_a_name(name: str) -> None:
    heard = answered(f"What is in {name}?")
    assert "`src/auth.py:1-6`" in heard.final.message
    assert "`login` (function, line 4)" in heard.final.message
    assert "Nothing is called" not in heard.final.message
    assert "search_symbols" not in heard.final.metadata.tools_used


def test_of_several_files_with_the_name_of_one_all_are_told_and_of_none_nothing_else() -> None:
    files = {**FILES, "web/auth.py": "x = 1\n", "py.py": "def py():\n    pass\n"}
    heard = answered("/explain auth.py", files)
    assert heard.final.message.startswith(
        "Several files are called `auth.py`. Name one of them with its folder:\n\n- `src/auth.py`\n- `web/auth.py`"
    )
    assert answered("What is in gone.py?", files).final.message.startswith(
        "I found nothing in the workspace about `gone.py`."
    )


def test_names_alone_are_looked_up_if_there_are_any_and_words_only_if_they_are_few() -> None:
    def looked_up(question: str) -> list[str]:
        done = [each for each in answered(question).of(ToolExecute) if each.status == "started"]
        return [each.args["name"] for each in done if each.tool_name == "search_symbols"]

    assert looked_up("does the sorted Tree have test_login?") == ["test_login", "Tree"]
    assert looked_up("login user") == ["login", "user"]
    assert looked_up("secrets leave the log somewhere, somehow") == []


def test_code_is_told_before_tests_and_the_name_itself_before_names_that_have_it() -> None:
    files = {
        "src/reader.py": "def read_settings():\n    pass\n",
        "tests/test_reader.py": "def test_settings():\n    pass\n",
        "a/test_first.py": "def settings_of():\n    pass\n",
    }

    def order(files: dict[str, str]) -> list[int]:
        said = answered("where are the settings?", files).final.message
        return [said.find(f"`{name}` is a function") for name in ("settings", "read_settings", "test_settings")]

    one, code, test = order(files)
    assert one < 0 < code < test
    assert answered("where are the settings?", files).final.message.startswith("Nothing is called just `settings`.")
    one, code, test = order({**files, "z/test_last.py": "def settings():\n    pass\n"})
    assert (one, code, test) == (0, -1, -1)


@pytest.mark.parametrize("count", range(1, 8))
def test_every_definition_of_a_name_is_told_the_first_with_their_code(count: int) -> None:
    files = {f"m{number}.py": f"def okapi():\n    return {number}\n" for number in range(count)}
    said = answered("where is okapi?", files).final.message
    assert [number for number in range(count) if f"`m{number}.py:1`" not in said] == []
    assert said.count("return ") == min(count, 3)
    assert ("It is also defined here:" in said) == (count > 3)
    both = {**files, "z.py": "def gnu():\n    return -1\n"}
    said = answered("where are okapi_ and gnu_?".replace("_", "()"), both).final.message
    assert "It is also defined here:" not in said, "which of them?"
    assert ("More definitions:" in said) == (count + 1 > 3)


def test_a_comment_above_a_definition_is_its_comment() -> None:
    assert "Its comment says: Tree is a binary tree. It is sorted." in answered("where is Tree?").final.message


SAYINGS: list[tuple[str, dict[str, str] | None, str]] = [
    ("hello", None, "Hello! Ask me about a function"),
    ("Thanks!", None, "You are welcome."),
    ("who are you?", None, "I am the assistant that is built into Troupe"),
    ("where is Quux?", None, "I found nothing in the workspace about `Quux`.\n\nThe workspace has:"),
    ("what is in here?", None, "I found no word in your message that I could look up.\n\nThe workspace has:"),
    ("what is in here?", {}, "The workspace has no files that I can read"),
    ("where is login?", {}, "The workspace has no files that I can read"),
    ("which file says find?", None, "I found no word"),
    ("returns user", None, "I found no definition of `user`.\n\nMentioned here:\n\n- `src/auth.py:4`"),
]


@pytest.mark.parametrize(("message", "files", "said"), SAYINGS, ids=[f"{m} {f}" for m, f, _ in SAYINGS])
def test_whatever_is_said_is_answered_sensibly(message: str, files: dict[str, str] | None, said: str) -> None:
    assert answered(message, files).final.message.startswith(said)


COMMANDS = [
    ("/explain", ["You look at `src/auth.py:4-6`", "- `login` (function, line 4): Lets a user in.", "`src/app.py:3`"]),
    (
        "/fix",
        ["`src/auth.py:6`: error: 'db' is not defined", "return db.find(user)", "1 failed", "cannot write the change"],
    ),
    ("/test", ["The tests of `src/auth.py` are likely here:\n\n- `tests/test_auth.py`", "cannot write them"]),
    (
        "/refactor",
        ["2 files may depend on it:", "`src/app.py:1`", "Run these tests before and after", "`tests/test_auth.py`"],
    ),
]


@pytest.mark.parametrize(("command", "said"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_works_on_what_the_editor_shows(command: str, said: list[str]) -> None:
    message = answered(f"{command} it", context=SELECTED).final.message
    assert [each for each in said if each not in message] == []


@pytest.mark.parametrize("name", ["@src/auth.py", "src/auth.py", "@src/auth.py.", "src/auth.py?", "src/auth.py!"])
@pytest.mark.parametrize("command", ["/explain", "/test", "/refactor"])
def test_of_a_file_that_is_named_a_command_says_what_it_says_of_one_in_the_editor(command: str, name: str) -> None:
    shown = EditorContext(active_editor=ActiveEditor(file_path="src/auth.py"))
    message = answered(f"{command} {name}").final.message
    assert message.replace("You ask about", "You look at") == answered(command, context=shown).final.message
    assert "`src/auth.py:4`" in message or "`src/auth.py:1-6`" in message or "`tests/test_auth.py`" in message


@pytest.mark.parametrize("name", ["@src/auth.py", "src/auth.py"])
def test_a_question_about_a_file_that_is_named_is_answered_by_what_it_defines(name: str) -> None:
    assert answered(f"what is {name} for?").final.message.startswith("You ask about `src/auth.py:1-6` (6 lines).")


@pytest.mark.parametrize("command", ["/explain", "/fix", "/test", "/refactor"])
def test_a_command_without_anything_to_work_on_says_what_it_needs(command: str) -> None:
    message = answered(command, context=EditorContext()).final.message
    assert message.startswith(("There is nothing selected", "The editor reports no problem", "Open the file"))


found = st.lists(st.tuples(st.sampled_from(("a.py", "b.py")), st.integers(1, 90)), max_size=12, unique=True)
Place = tuple[str, int]


@given(found, found, st.sampled_from(("what does login do?", "/test login", "/fix login", "/refactor login")))
def test_of_the_places_that_were_found_the_first_are_read_with_what_stands_around_them(
    defined: list[Place], mentioned: list[Place], words: str
) -> None:
    symbols = definitions_text(
        "login", [(path, Definition("login", "function", line, "def login():")) for path, line in defined]
    )
    texts = hits_text(["login"], [(path, 1, [(line, "login(3)")]) for path, line in mentioned], most=99)
    done = {"search_symbols": ({"name": "login"}, symbols), "search_text": ({"query": "login"}, texts)}
    calls = tuple(ToolCall(id=name, name=name, arguments=arguments) for name, (arguments, _) in done.items())
    messages = (
        ModelMessage(role="user", content=words),
        ModelMessage(role="assistant", tool_calls=calls),
        *(ModelMessage(role="tool", content=text, tool_call_id=name) for name, (_, text) in done.items()),
    )
    answer = deltas(ModelRequest(model=BUILTIN, messages=messages, tools=SPECS))
    called = [(each.call.name, each.call.arguments) for each in answer if isinstance(each, CalledTool)]
    read: list[Place] = []
    for path, line in [] if words.startswith("/test") else defined or mentioned:
        if not any(path == other and begin - 8 < line < begin + 16 for other, begin in read):
            read.append((path, line))  # no other shows it with seven lines before it, and sixteen behind
    assert [arguments for name, arguments in called if name == "read_file"] == [
        {"file_path": path, "first_line": max(line - 8, 1), "last_line": line + 32} for path, line in read[:3]
    ]
    lists = not read and not words.startswith("/")
    assert ("list_files", {}) in called if lists else "list_files" not in dict(called)
    assert [arguments["current_step"] for name, arguments in called if name == "update_plan"] == [3] * bool(called)


def test_what_the_user_adds_is_asked_with_the_rest() -> None:
    def looked_up(*said: str) -> list[str]:
        asked = tuple(ModelMessage(role="user", content=each) for each in said)
        answer = deltas(ModelRequest(model=BUILTIN, messages=asked, tools=SPECS))
        calls = [each.call for each in answer if isinstance(each, CalledTool)]
        return [each.arguments["query"] for each in calls if each.name == "search_text"]

    question = "What does `login` do?"
    assert looked_up(question, f"{STEERED}\n\nAnd `Tree`?", f"{UPDATED}\n\n`Other`") == ["login Tree"]
    assert looked_up(question, "What does `Tree` do?") == ["Tree"]


texts = st.text(max_size=60)
calls = st.builds(
    lambda name: ModelMessage(role="assistant", tool_calls=(ToolCall(id="1", name=name, arguments={}),)),
    st.sampled_from(sorted(TOOLS)),
)
results = st.builds(lambda text: ModelMessage(role="tool", content=text, tool_call_id="1"), texts)
messages = st.lists(
    st.builds(ModelMessage, role=st.sampled_from(["user", "assistant"]), content=texts) | calls | results, max_size=8
)


@given(messages, st.booleans())
def test_it_answers_any_request_the_same_way_twice_and_calls_only_what_it_was_given(
    said: list[ModelMessage], has_tools: bool
) -> None:
    request = ModelRequest(model=BUILTIN, messages=tuple(said), tools=SPECS if has_tools else ())
    answer = list(deltas(request))
    assert answer == list(deltas(request))
    assert answer[-1] == Finished()
    for delta in answer[:-1]:
        if isinstance(delta, CalledTool):
            assert has_tools
            checked(TOOLS[delta.call.name], delta.call.arguments)
        else:
            assert isinstance(delta, SaidText)
    assert len(answer) > 1
