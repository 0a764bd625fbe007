"""The agent's page at real sessions, whose turns are scripted: the real port, sessions and approvals over a store on
paper, and a turn that asks what the test says. It ends and begins again as a server does, over the same paper."""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import resources
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import trio
from playwright.sync_api import BrowserContext, Page, expect

from actors import agent
from actors.agent.messages import TurnOrder
from actors.kernel import AnySpec, ChildSpec, Restart
from actors.kernel.testing import staged
from codec.agent.approvals import Pending
from codec.settings import AgentSettings
from systems.agent import families
from tests.agent.paper_store import Paper, PaperDisk, paper_spec
from tests.agent.session_kit import Acted, ScriptedTurn
from tests.patience import PATIENCE
from transports.agent.gate import Gate
from transports.agent.port import agent_application, agent_websocket
from transports.agent.tree import FolderTrees
from transports.door.door import Door
from transports.http.pages import add_pages

Script = Callable[[TurnOrder], Sequence[Any]]


class SessionsStage:
    """`with SessionsStage(port, paper, script) as stage`: serves the agent's page until the block ends."""

    def __init__(self, port: int, paper: Paper, script: Script) -> None:
        self.url = f"http://127.0.0.1:{port}/"
        self.acted: list[Acted] = []
        """What the turns have done upon answers."""
        self._port = port
        self._disk = PaperDisk(paper)
        self._script = script
        self._ready = threading.Event()
        self._came = threading.Condition()
        self._thread = threading.Thread(target=trio.run, args=(self._serve,))

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(PATIENCE)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        trio.from_thread.run_sync(self._scope.cancel, trio_token=self._token)
        self._thread.join()

    @property
    def paper(self) -> Paper:
        """What is stored at this moment."""
        return self._disk.paper.copy()

    def has_acted(self, id: str) -> Pending:  # noqa: A002
        """The request as it was when a turn has acted upon it."""
        with self._came:
            self._came.wait_for(lambda: any(each.request.request_id == id for each in self.acted), PATIENCE)
        return next(each.request for each in self.acted if each.request.request_id == id)

    def _acts(self, acted: Acted) -> None:
        with self._came:
            self.acted.append(acted)
            self._came.notify_all()

    def _make_turn(self, order: TurnOrder) -> ChildSpec[Any]:
        made = partial(ScriptedTurn, order, self._script(order), self._acts)
        return ChildSpec(order.turn_id, made, restart=Restart.TEMPORARY)

    async def _serve(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        ids = count(time.time_ns())
        new_id = lambda: f"id-{next(ids)}"  # noqa: E731
        specs: list[AnySpec] = [
            paper_spec(self._disk),
            agent.workspaces_spec(FolderTrees(), time.time),
            agent.models_spec(families(AgentSettings())),
            *agent.sessions_specs(self._make_turn, time.time, new_id),
        ]
        with trio.CancelScope() as self._scope:
            async with staged(*specs) as house, trio.open_nursery() as nursery:
                desk = agent.AgentDesk(house.stage.registry, new_id, agent.ServerFacts("1"))
                gate, web = Gate("good", time.monotonic), resources.files("web")
                app = add_pages(agent_application(desk, gate, web, b"{}"), web, dict)
                live = agent_websocket(desk, gate)
                await nursery.start(Door(app=app, on_websocket=live, hosts=["127.0.0.1"], port=self._port).serve)
                self._ready.set()
                await trio.sleep_forever()


def entered(visitor: BrowserContext, stage: SessionsStage, folder: Path) -> Page:
    """A window in a new session of this folder."""
    page = visitor.new_page()
    page.goto(f"{stage.url}#token=good")
    page.get_by_role("button", name="Add a folder").click()
    page.get_by_role("textbox", name="Folder").press_sequentially(str(folder))
    page.keyboard.press("Enter")
    expect(page.locator("agent-sessions select")).to_contain_text(folder.name)
    page.get_by_role("button", name="New session", exact=True).click()
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    return page
