"""`troupe sessions` and `troupe search` with a server that is on paper: what is asked, and what is shown."""

import io
import json
import os
import signal
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import pytest
import trio
import trio.testing

from actors.kernel import PeerGone
from codec.agent.index.asking import FoundLine, Reason, SearchResult, SearchResults
from codec.agent.sessions import SessionFact
from codec.agent.workspaces import IndexStatus, WorkspaceFact
from program.agent_arguments import ListSessions, SearchFolder
from program.commands import agent_search, agent_sessions
from program.commands.agent import AgentMeans
from program.commands.agent_search import search
from program.commands.agent_sessions import sessions
from program.ready import SERVER_FILE, Announcement
from program.status import Status
from program.trouble import Trouble
from program.visiting import Finish, Visit

NOW = "2026-01-02T03:04:05Z"


class Refused(Exception):
    pass


class PaperAgent:
    """Answers each path with what is written down for it, in turn; the last one again and again."""

    def __init__(self, answers: dict[str, list[object]]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def ask(self, method: str, path: str, body: object = None) -> bytes:
        await trio.lowlevel.checkpoint()
        self.asked.append(f"{method} {path}")
        found = self.answers[path.partition("?")[0]]
        answer = found.pop(0) if len(found) > 1 else found[0]
        if isinstance(answer, Exception):
            raise answer
        return msgspec.json.encode(answer)

    def stream(self, session: str) -> AbstractAsyncContextManager[Visit]:
        raise NotImplementedError


def means(agent: PaperAgent) -> AgentMeans:
    def here(command: Any) -> NoReturn:
        raise AssertionError("a server runs")

    return AgentMeans(lambda url, state_dir: agent, here, Refused)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir()
    known = Announcement(os.getpid(), {"agent": "http://127.0.0.1:5165"})
    (folder / SERVER_FILE).write_bytes(msgspec.json.encode(known))
    (folder / "agent.token").write_text("secret\n")
    return folder


def workspace(path: Path) -> WorkspaceFact:
    return WorkspaceFact(id="w1", path=str(path), name=path.name, created_at=NOW)


# -- sessions


def listed(agent: PaperAgent, state: Path, **wanted: Any) -> str:
    out, wish = io.StringIO(), dict[str, Any](workspace=None, json=False, link=False) | wanted
    assert sessions(ListSessions(state_dir=state, **wish), means(agent), out) == 0
    return out.getvalue()


def test_the_link_is_that_of_the_running_server_and_nobody_is_asked_for_it(state: Path) -> None:
    agent = PaperAgent({})
    assert listed(agent, state, link=True) == "http://127.0.0.1:5165/#token=secret\n"
    assert agent.asked == []


def test_each_session_is_shown_with_what_it_does_and_where(state: Path, tmp_path: Path) -> None:
    facts = [
        SessionFact(id="s1", workspace_id="w1", created_at=NOW, updated_at=NOW, title="Fix it", running=True),
        SessionFact(id="s2", workspace_id="w1", created_at=NOW, updated_at=NOW, pending_approvals=2),
        SessionFact(id="s3", workspace_id="gone", created_at=NOW, updated_at=NOW, title="Old\x1b[2J"),
    ]
    agent = PaperAgent({"sessions": [facts], "workspaces": [[workspace(tmp_path)]]})
    assert listed(agent, state).splitlines() == [
        "s1  Fix it",
        f"    2026-01-02 03:04  running  {tmp_path}",
        "s2  New session",
        f"    2026-01-02 03:04  asks 2 times  {tmp_path}",
        "s3  Old\\x1b[2J",
        "    2026-01-02 03:04",
    ]
    assert json.loads(listed(agent, state, json=True))[2]["id"] == "s3"
    agent.answers["sessions"] = [[]]
    assert listed(agent, state) == "There are no sessions yet.\n"


def test_the_sessions_of_one_workspace_are_asked_for_by_its_id(state: Path, tmp_path: Path) -> None:
    agent = PaperAgent(
        {"workspaces/register": [workspace(tmp_path)], "sessions": [[]], "workspaces": [[workspace(tmp_path)]]}
    )
    listed(agent, state, workspace=tmp_path)
    assert "GET sessions?workspace_id=w1" in agent.asked


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (PeerGone("it does not answer"), "The agent cannot be asked: it does not answer"),
        (Refused("not so"), "The agent refuses: not so"),
    ],
)
def test_what_goes_wrong_is_a_sentence(state: Path, trouble: Exception, said: str) -> None:
    with pytest.raises(Trouble, match=said) as told:
        listed(PaperAgent({"sessions": [trouble]}), state)
    assert told.value.code == 1


# -- search

READY = IndexStatus(workspace_id="w1", index_status="ready", watching="events")


def place(path: str) -> SearchResult:
    return SearchResult(
        path=path,
        first_line=4,
        last_line=5,
        score=1.0,
        symbol="login",
        kind="function",
        reasons=(Reason("text_search", "has the word login", 1.0),),
        lines=(FoundLine(number=4, text="def login(user):"),),
    )


def indexed(folder: Path, found: SearchResults) -> PaperAgent:
    return PaperAgent(
        {
            "workspaces": [[workspace(folder)]],
            "workspaces/w1/index/status": [READY],
            "workspaces/w1/search": [found],
        }
    )


def searched(agent: PaperAgent, state: Path, folder: Path, **wanted: Any) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    wish = dict[str, Any](kind="all", most=20, now=False, json=False) | wanted
    command = SearchFolder(words="login", workspace=folder, config=None, overrides=(), state_dir=state, **wish)
    return search(command, means(agent), out, err), out.getvalue(), err.getvalue()


def test_a_place_is_shown_with_why_and_its_lines_and_as_json_as_the_server_said_it(state: Path, tmp_path: Path) -> None:
    found = SearchResults(query="login", results=(place("src/auth.py"), place("b.py")))
    agent = indexed(tmp_path, found)
    shown = (
        "src/auth.py:4  function login\n    has the word login\n    4  def login(user):\n"
        "\nb.py:4  function login\n    has the word login\n    4  def login(user):\n"
    )
    assert searched(agent, state, tmp_path) == (0, shown, "")
    code, text, said = searched(agent, state, tmp_path, json=True)
    assert (code, msgspec.json.decode(text, type=SearchResults), said) == (0, found, "")


def test_below_a_folder_of_a_workspace_its_own_places_come_first(state: Path, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    found = SearchResults(query="login", results=(place("b.py"), place("src/auth.py"), place("srcs/c.py")))
    agent = indexed(tmp_path, found)
    _, shown, _ = searched(agent, state, tmp_path / "src", most=2)
    assert [line for line in shown.splitlines() if ":4" in line] == [
        "auth.py:4  function login",
        "../b.py:4  function login",
    ]
    _, text, _ = searched(agent, state, tmp_path / "src", json=True, most=2)
    assert [each.path for each in msgspec.json.decode(text, type=SearchResults).results] == ["src/auth.py", "b.py"]


@pytest.mark.parametrize(
    ("message", "said"),
    [("", "Nothing was found for login"), ("There is no index.", "There is no index.")],
)
def test_where_nothing_is_found_it_is_said_why_and_the_exit_code_says_so(
    state: Path, tmp_path: Path, message: str, said: str
) -> None:
    agent = indexed(tmp_path, SearchResults(query="login", message=message))
    code, shown, told = searched(agent, state, tmp_path)
    assert (code, shown.strip(), told) == (1, "", f"troupe: {said}\n")
    code, shown, told = searched(agent, state, tmp_path, json=True)
    assert (code, json.loads(shown)["results"], told) == (1, [], "")


def test_an_index_that_is_being_made_is_waited_for_unless_it_is_wanted_now(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_search, "EACH", 0.0)
    making = IndexStatus(workspace_id="w1", index_status="indexing", watching="off", total_files=4, indexed_files=1)
    agent = indexed(tmp_path, SearchResults(query="login", results=(place("b.py"),)))
    agent.answers["workspaces/w1/index/status"] = [
        IndexStatus(workspace_id="w1", index_status="ready", watching="off"),
        making,
        READY,
    ]
    agent.answers["workspaces/w1/index/refresh"] = [making]
    assert searched(agent, state, tmp_path)[0] == 0
    assert [each.rpartition("/")[2].partition("?")[0] for each in agent.asked] == [
        "GET workspaces",
        "status",
        "refresh",
        "status",
        "status",
        "search",
    ]
    agent.asked.clear()
    assert searched(agent, state, tmp_path, now=True)[0] == 0
    assert len(agent.asked) == 2


# -- what ends both


class Silent(PaperAgent):
    async def ask(self, method: str, path: str, body: object = None) -> bytes:
        await trio.sleep_forever()
        raise AssertionError


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("asks", ["sessions", "search"])
async def test_a_signal_while_nobody_answers_is_its_exit_code(asks: str, number: signal.Signals, state: Path) -> None:
    agent, stop, out, err = means(Silent({})), Finish(), io.StringIO(), io.StringIO()
    codes: list[int] = []

    async def ask() -> None:
        if asks == "sessions":
            wish = ListSessions(None, state, json=False, link=False)
            codes.append(await agent_sessions._sessions(wish, agent, out, stop))
        else:
            wanted = SearchFolder("login", state, "all", 20, False, None, (), state, json=False)
            codes.append(await agent_search._search(wanted, agent, out, Status(err), False, stop))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        stop.ask(number)
    assert codes == [128 + number]
    assert (out.getvalue(), err.getvalue()) == ("", "")
