"""A small server for the judge's page: its files, and a scripted judge behind the WebSocket `/panel`.

Like `stage.py`, on which it is based, it runs in a thread with its own trio loop. `opening` is sent to each page that
asks for it. A test sends more to all pages with `say`, and reads the pages' messages. These are decoded as by the real
server: if a page sends a message that the server would refuse, the page is told so, and its test fails.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

import trio
from msgspec.structs import replace
from playwright.sync_api import Browser, ConsoleMessage, Page

from codec.judge import (
    BackendMessage,
    BadMessage,
    Batch,
    Case,
    Listed,
    Notice,
    RunComplete,
    RunProgress,
    RunReport,
    RunResult,
    RunSettings,
    ShownProblem,
    Standing,
    StateInit,
    StateProblems,
    Status,
    Summary,
    UiMessage,
    Verdict,
    read_ui,
    write,
)
from tests.patience import PATIENCE
from tests.web.conftest import BROWSERS_OWN
from tests.web.stage import LONGEST_HEAD, POLICY, TYPES, WEB, Replay, Stage, page
from tests.web.windows import window

SHOWN = 16_384

# --- messages of a judge ----------------------------------------------------------------------------------------------


def case(index: int, given: str = "1 2\n", expected: str = "3\n", **fields: Any) -> Case:
    folder = "/contest/abc999/abc999_a/tests"
    sizes = {"input_size": len(given.encode()), "expected_size": len(expected.encode())}
    return Case(
        index=index, input_path=f"{folder}/{index}.in", output_path=f"{folder}/{index}.out",
        input_content=given[:SHOWN], expected_content=expected[:SHOWN],
        input_cut=len(given) > SHOWN, expected_cut=len(expected) > SHOWN, **(sizes | fields),
    )  # fmt: skip


def problem(task: str = "a", *cases: Case, count: int = 3, **fields: Any) -> ShownProblem:
    """Problem `task` of the contest abc999, with these cases or with `count` plain ones."""
    known: dict[str, Any] = {
        "name": f"{task.upper()} - Sums", "group": "AtCoder Beginner Contest 999", "interactive": False,
        "url": f"https://atcoder.jp/contests/abc999/tasks/abc999_{task}", "time_limit": 2000, "memory_limit": 1024,
        "contest_id": "abc999", "task_id": f"abc999_{task}", "tests_dir": "tests", "id": f"abc999/abc999_{task}",
        "main_path": f"/contest/abc999/abc999_{task}/main.py",
        "cases": cases or tuple(case(n, f"{n} {n + 1}\n", f"{2 * n + 1}\n") for n in range(1, count + 1)),
    }  # fmt: skip
    return ShownProblem(**(known | fields))


def result(index: int, verdict: Verdict = "AC", actual: str = "3\n", **fields: Any) -> RunResult:
    status: Status = {"AC": "pass", "WA": "fail", "TLE": "timeout"}.get(verdict, "re")  # type: ignore[assignment]
    known: dict[str, Any] = {
        "status": status, "duration_ms": 38, "cpu_ms": 31, "memory_kb": 9_600, "console": "",
        "actual_size": len(actual.encode()), "actual_cut": len(actual) > SHOWN,
    }  # fmt: skip
    return RunResult(index=index, verdict=verdict, actual=actual[:SHOWN], **(known | fields))


def summary(results: Sequence[RunResult], duration_ms: int = 120) -> Summary:
    count = [each.status for each in results].count
    return Summary(
        total=len(results), passed=count("pass"), failed=count("fail"), timeouts=count("timeout"), res=count("re"),
        duration_ms=duration_ms,
    )  # fmt: skip


def listed(shown: ShownProblem, standing: Standing | None = None, **fields: Any) -> Listed:
    return Listed(
        id=shown.id, name=shown.name, group=shown.group, contest_id=shown.contest_id, task_id=shown.task_id,
        url=shown.url, cases=len(shown.cases), standing=standing, **fields,
    )  # fmt: skip


def init(shown: ShownProblem | None = None, **fields: Any) -> StateInit:
    return StateInit(problem=shown, settings=fields.pop("settings", RunSettings()), **fields)


def begun(shown: ShownProblem, at: int = 1, scope: Any = "all") -> RunProgress:
    return RunProgress(scope, True, at, shown.id)


def told(shown: ShownProblem, *results: RunResult, scope: Any = "all") -> list[BackendMessage]:
    return [RunReport(scope, each, shown.id) for each in results]


def ended(shown: ShownProblem, *results: RunResult, scope: Any = "all", cancelled: bool = False) -> RunComplete:
    return RunComplete(scope, summary(results), shown.id, cancelled)


def whole_run(shown: ShownProblem, *results: RunResult) -> list[BackendMessage]:
    return [begun(shown), *told(shown, *results), ended(shown, *results)]


# --- the server -------------------------------------------------------------------------------------------------------


class JudgeStage(Stage):
    """`with JudgeStage(opening)`: serves the judge's page at `stage.url`."""

    def __init__(self, opening: Sequence[BackendMessage]) -> None:
        super().__init__(None)
        self.opening = list(opening)
        self._heard: list[UiMessage] = []
        self._refused: list[str] = []
        self._opened = 0
        self._news = threading.Condition()

    def opened(self) -> None:
        """Wait until a page was sent the opening. Messages that are sent from now on come after it."""
        with self._news:
            assert self._news.wait_for(lambda: self._opened > 0, PATIENCE)

    def say(self, *messages: BackendMessage) -> None:
        """Send messages to all pages."""
        self._do(self._say, [write(each).decode() for each in messages])

    def heard(self, kind: type[UiMessage], count: int = 1) -> list[Any]:
        """The pages' messages of this type, as soon as there are `count`."""
        with self._news:
            assert self._news.wait_for(lambda: len(self._of(kind)) >= count, PATIENCE), (self._heard, self._refused)
            return self._of(kind)

    def so_far(self, kind: type[UiMessage]) -> list[Any]:
        with self._news:
            return self._of(kind)

    @property
    def refused(self) -> list[str]:
        with self._news:
            return list(self._refused)

    def _of(self, kind: type[UiMessage]) -> list[UiMessage]:
        return [each for each in self._heard if isinstance(each, kind)]

    async def _say(self, texts: list[str]) -> None:
        for text in texts:
            await self._send(text)

    async def _answer(self, stream: trio.SocketStream) -> None:
        head = b""
        try:
            while b"\r\n\r\n" not in head and len(head) < LONGEST_HEAD:
                more = await stream.receive_some()
                if not more:
                    return
                head += more
            target = head.split(b" ", 2)[1].decode()
            if target == "/panel" and self.refusing:
                await stream.send_all(page("/none"))
            elif target == "/panel":
                await self._converse(Replay(head, stream))
            else:
                await stream.send_all(_page(target))
        except trio.BrokenResourceError:
            return

    async def _converse(self, stream: Replay) -> None:
        async with self._guest(stream) as socket:
            while True:
                text = await socket.get_message()
                for answer in self._hear(text):
                    await socket.send_message(write(answer).decode())
                with self._news:
                    self._opened += json.loads(text)["type"] == "ui/requestInit"
                    self._news.notify_all()

    def _hear(self, text: str | bytes) -> list[BackendMessage]:
        with self._news:
            self._news.notify_all()
            try:
                message = read_ui(text)
            except BadMessage as error:
                self._refused.append(str(error))
                return [Notice("error", str(error))]
            self._heard.append(message)
        if json.loads(text)["type"] != "ui/requestInit":
            return []
        self.greeted += 1
        return self.opening


def _page(target: str) -> bytes:
    if target != "/":
        return page(target)
    body = (WEB / "judge/index.html").read_bytes()
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: {TYPES['.html']}; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        f"Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


class Show(Protocol):
    def __call__(self, *opening: BackendMessage, **context: Any) -> tuple[Page, JudgeStage]: ...


@contextmanager
def showing(chromium: Browser) -> Iterator[Show]:
    """Opens the page of a scripted judge. At the end, no page may have reported an error."""
    errors: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(BROWSERS_OWN):
            errors.append(message.text)

    with ExitStack() as stack:

        def show(*opening: BackendMessage, **context: Any) -> tuple[Page, JudgeStage]:
            stage = stack.enter_context(JudgeStage(opening))
            page = stack.enter_context(window(chromium, **context)).new_page()
            page.on("console", hear)
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(stage.url)
            stage.opened()
            return page, stage

        yield show
    assert not errors, errors


# --- scenes -----------------------------------------------------------------------------------------------------------

TRACEBACK = """Traceback (most recent call last):
  File "/contest/abc999/abc999_a/main.py", line 7, in <module>
    main()
  File "/contest/abc999/abc999_a/main.py", line 4, in main
    print(a // b)
          ~~^^~~
ZeroDivisionError: integer division or modulo by zero
"""


def contest() -> StateProblems:
    """Six problems of a contest with seven, and two problems of other contests."""
    green, red, some = Standing(passed=3, failed=0), Standing(passed=1, failed=1), Standing(passed=1, failed=0)
    names = ["Sums", "Two Towers", "Lanterns along the River", "Grid Game", "Queries on a Very Long Name of a Tree",
             "Xor"]  # fmt: skip
    standings = [green, green, red, some, None, None]
    tasks = [
        listed(problem(task, name=f"{task.upper()} - {name}"), stands, batch=Batch("6b1c", 7))
        for task, name, stands in zip("abcdef", names, standings, strict=True)
    ]
    kattis = [
        replace(tasks[0], id=f"kattis/{name.lower()}", name=name, group="Kattis", contest_id="kattis", batch=None)
        for name in ("Hello", "Carrots")
    ]
    return StateProblems((*tasks, *kattis), tasks[0].id)
