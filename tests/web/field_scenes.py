"""Pages with fields in sight, for tests that type into them. Each page can be cut off from its server and reconnect."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from actors.sidekick.prose import prose
from codec.judge import Compare, RunSettings, StateProblems
from tests.house.agent_page import add_folder, link
from tests.house.agent_page import field as message_field
from tests.house.agent_page import visiting as visiting_agent
from tests.house.running import Server
from tests.web import agent_stage, board_stage, desk_stage, judge_stage, scenes
from tests.web.board_words import CLEAR, Message, spawn
from tests.web.conftest import visiting
from tests.web.desk_stage import DeskStage
from tests.web.judge_stage import init, listed, problem
from tests.web.playground_stage import playground
from tests.web.stage import FRAMES, Stage


@dataclass(frozen=True)
class Props:
    """What a scene may need. The folder is its own; the server, without one of models, is shared."""

    folder: Path
    house: Server | None = None


class Scene:
    """A page with fields in sight. `come_back()` reconnects it, and waits until the server's messages are drawn."""

    def __init__(
        self, page: Page, stage: Stage | DeskStage | None = None, come_back: Callable[[], None] = lambda: None
    ) -> None:
        self.page = page
        self.stage = stage
        self._come_back = come_back

    def cut_off(self) -> None:
        assert self.stage is not None
        self.stage.refusing = True
        self.stage.drop()
        expect(self.page.locator("html")).to_have_attribute("data-stale", "")
        self.page.evaluate(FRAMES)  # in the next frame, the page disables its fields

    def reconnect(self) -> None:
        assert self.stage is not None
        self.stage.refusing = False
        self.page.evaluate("window.dispatchEvent(new Event('online'))")  # the page tries to reconnect at once
        self._come_back()


BOARD = [
    spawn("textbox", "t", initialValue="old"),
    spawn("textbox", "u", placeholder="with a button", buttonText="Set"),
    spawn("console", "k", showInput=True, text="a\n"),
    spawn("button", "b", text="Go"),
]
TASK = "- [ ] task"


@contextmanager
def board(chromium: Browser, _: Props, **context: Any) -> Iterator[Scene]:
    with board_stage.showing(chromium) as show:
        page, stage = show(*BOARD, **context)
        stage.rendered[TASK] = prose(TASK)
        board_stage.say(page, stage, spawn("markdown", "m", initialSource=TASK))
        expect(page.get_by_role("checkbox")).to_be_disabled()
        times = iter(range(100))
        text = ""

        def come_back() -> None:
            expect(page.get_by_text(text)).to_be_visible()
            prepare()

        def prepare() -> None:
            nonlocal text
            text = f"told {next(times)} times"
            script: list[Message] = [CLEAR, *BOARD, spawn("label", "l", text=text)]
            stage.script = script

        prepare()
        yield Scene(page, stage, come_back)


@contextmanager
def judge(chromium: Browser, _: Props, *, key: str = "", **context: Any) -> Iterator[Scene]:
    tasks = [problem(task, contest_id=f"c{task}") for task in "abcdefghijkl"]
    known = StateProblems(tuple(map(listed, tasks)), tasks[0].id)
    settings = RunSettings(compare=Compare(mode="float"))
    with judge_stage.showing(chromium) as show:
        page, stage = show(init(tasks[0], settings=settings), known, **context)
        times = iter(range(100))
        name = ""

        def come_back() -> None:
            expect(page.get_by_role("heading", name=name)).to_be_attached()
            prepare()

        def prepare() -> None:
            nonlocal name
            name = f"told {next(times)} times"
            stage.opening = [init(problem("a", contest_id="ca", name=name), settings=settings), known]

        prepare()
        expect(page.get_by_role("button", name="Run all")).to_be_visible()
        if key:
            page.keyboard.press(key)
        yield Scene(page, stage, come_back)


@contextmanager
def console(chromium: Browser, _: Props, **context: Any) -> Iterator[Scene]:
    with visiting(chromium) as visit:
        page, stage = visit(scenes.evening(), **context)
        expect(page.locator(".row").first).to_be_visible()
        yield Scene(page, stage, lambda: expect(page.locator("html")).not_to_have_attribute("data-stale", ""))


@contextmanager
def script(chromium: Browser, props: Props, **context: Any) -> Iterator[Scene]:
    folder = props.folder
    (folder / "pyodide").mkdir()
    fake = Path(__file__).with_name("fake_pyodide.mjs").read_text()
    (folder / "pyodide" / "pyodide.mjs").write_text(fake)
    (folder / "hello.py").write_text("print hello\n")
    options = [f"--set=sidekick.pyodide={folder}/pyodide", f"--set=sidekick.scripts={folder}"]
    with playground(chromium, folder / "server", *options) as open_page:
        at = open_page(**context)
        at.comes_to("Ready")
        yield Scene(at.page)


@contextmanager
def desk(chromium: Browser, _: Props, *, archiving: bool = False, **context: Any) -> Iterator[Scene]:
    with desk_stage.showing_desk(chromium) as show:
        page, stage = show(desk_stage.failed_one(time.time()), **context)
        expect(page.get_by_role("button", name="gave up 1")).to_be_visible()
        if archiving:
            page.get_by_role("button", name="Archive…").click()
            expect(page.get_by_role("dialog")).to_be_visible()
        yield Scene(page, stage, lambda: expect(page.locator("html")).not_to_have_attribute("data-stale", ""))


AGENT_READY = """async () => {
    const { showMarkdown } = await import(new URL("web/house/markdown.js", document.baseURI));
    showMarkdown(document.querySelector("agent-transcript .content"), "- [ ] a task of an answer");
    document.querySelector("agent-transcript").hidden = false;
}"""


@contextmanager
def agent(chromium: Browser, props: Props, *, opened: str = "", **context: Any) -> Iterator[Scene]:
    """On a real server. Its end is tried in tests/house/test_agent_page.py."""
    house = props.house
    assert house is not None
    with visiting_agent(chromium, **context) as visitor:
        if opened == "token":
            page = visitor.page(house.url_of("agent"))
            expect(page.get_by_label("Token")).to_be_visible()
            yield Scene(page)
            return
        page = visitor.page(link(house))
        expect(page.locator("main")).to_be_visible()
        unfold = page.get_by_role("button", name="Sessions", exact=True)
        if unfold.is_visible():
            unfold.click()
        add_folder(page, props.folder)
        if opened == "folder":
            page.get_by_role("button", name="Add a folder").click()
        else:
            page.get_by_role("button", name="New session", exact=True).click()
            expect(message_field(page)).to_be_focused()
        if opened == "name":
            if unfold.is_visible():
                unfold.click()
            page.get_by_role("button", name=re.compile("^Rename")).click()
        if opened == "models":
            page.get_by_role("button", name=re.compile("^Model")).click()
            expect(page.locator("agent-models input[name=model]").first).to_be_visible()
        if opened == "answer":
            page.evaluate(AGENT_READY)
        yield Scene(page)


@contextmanager
def agent_hands(chromium: Browser, _: Props, *, opened: str, **context: Any) -> Iterator[Scene]:
    """In a scripted session that asks, whose policy or search is open, or that waits with a plan."""
    with agent_stage.showing_agent(chromium) as show:
        page, stage = show(**context)
        stage.begin()
        if opened == "asking":
            agent_stage.ask_all(stage)
            expect(page.locator("agent-request")).to_have_count(3)
            page.get_by_role("button", name="Reject…").first.click()
            expect(page.get_by_placeholder(re.compile("^Why not")).first).to_be_focused()
        elif opened == "policy":
            page.get_by_role("button", name="What the agent may do here").click()
            expect(page.get_by_label("Files that it may read")).not_to_have_value("")
        elif opened == "searching":
            page.keyboard.press("/")
            expect(page.get_by_role("combobox", name="Search this folder")).to_be_focused()
        else:
            agent_stage.plan(stage)
            expect(page.get_by_role("textbox", name="Step 2")).to_be_visible()
        yield Scene(page)


SCENES: dict[str, Callable[..., Any]] = {
    "board": board,
    "judge": judge,
    "judge, searching": partial(judge, key="/"),
    "judge, settings": partial(judge, key="s"),
    "console": console,
    "desk": desk,
    "desk, archiving": partial(desk, archiving=True),
    "script": script,
    **{f"agent, {opened}": partial(agent, opened=opened) for opened in ("token", "folder", "name", "models", "answer")},
    "agent": agent,
    **{
        f"agent, {opened}": partial(agent_hands, opened=opened)
        for opened in ("asking", "policy", "planning", "searching")
    },
}
