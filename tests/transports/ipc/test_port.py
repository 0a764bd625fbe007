"""The desk's port over real sockets: a door, the desk behind it, and a journal on paper."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib import resources
from typing import Any

import httpx
import pytest
import trio
from trio.testing import wait_all_tasks_blocked
from trio_websocket import ConnectionClosed, ConnectionRejected

from actors.ipc.editor import EDITOR, EditorMessage, StartEditor, StopEditor
from actors.ipc.messages import PeerNow
from actors.kernel import Actor, AnySpec, ChildSpec
from tests.ipc.desk_kit import NOW, UNDER_WAY, DeskHouse, PaperJournal, desk_house, fact
from tests.ipc.paper import PaperBase
from tests.patience import PATIENCE
from tests.transports.house import House, open_house, reason_of
from transports.ipc.port import ipc_application, ipc_websocket
from transports.wire.limits import DoorLimits, HttpLimits, WebSocketLimits

LIMITS = DoorLimits(http=HttpLimits(body_bytes=100_000), websocket=WebSocketLimits(message_bytes=10_000))


@asynccontextmanager
async def open_port(
    client: bool = True, base: PaperBase | None = None, beside: Sequence[AnySpec] = ()
) -> AsyncIterator[tuple[House, DeskHouse]]:
    journal = PaperJournal()
    journal.put(*(fact(f"r{number}", created=NOW + number) for number in range(5)), fact("bad", "gave up"))
    async with desk_house(journal, base, client=client, beside=beside) as desk:
        app = ipc_application(desk.desk, resources.files("web"))
        async with open_house(app=app, on_websocket=ipc_websocket(desk.desk), limits=LIMITS) as house:
            yield house, desk


async def ask(house: House, method: str, path: str, **options: Any) -> httpx.Response:
    with trio.fail_after(PATIENCE):
        async with httpx.AsyncClient() as client:
            return await client.request(method, f"{house.url}{path}", **options)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html"),
        ("/web/ipc/ipc.js", "text/javascript"),
        ("/requests", "application/json"),
        ("/requests/r1", "application/json"),
        ("/totals", "application/json"),
        ("/metrics", "text/plain; version=0.0.4"),
        ("/health", "application/json"),
    ],
)
async def test_every_address_answers_in_its_kind(path: str, kind: str) -> None:
    async with open_port() as (house, _):
        answer = await ask(house, "GET", path)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)


async def test_a_script_reads_the_list_its_requests_and_the_totals() -> None:
    async with open_port() as (house, _):
        listed = (await ask(house, "GET", "/requests?state=success&text=R&limit=2&after=r4")).json()
        assert [row["id"] for row in listed["rows"]] == ["r3", "r2"]
        assert (listed["first"], listed["total"]) == (1, 5)
        assert (await ask(house, "GET", "/requests/bad")).json()["fact"]["state"] == "gave up"
        assert (await ask(house, "GET", "/totals")).json()["by_state"] == {"success": 5, "gave up": 1}
        absent = await ask(house, "GET", "/requests/nobody")
        assert (absent.status_code, absent.text) == (
            404,
            "There is no request 'nobody' here. It may be in the archive.\n",
        )


async def test_a_script_submits_requeues_cancels_and_archives() -> None:
    async with open_port() as (house, desk):
        given = {
            "requests": [{"id": "mine", "command": "ping"}, {"command": "submitPrompt", "params": {"prompt": "x"}}]
        }
        submitted = (await ask(house, "POST", "/requests", json=given)).json()
        assert submitted["ids"][0] == "mine"
        assert len(submitted["ids"]) == 2
        cancelled = (await ask(house, "POST", "/cancel", json={"ids": ["mine", "r1"]})).json()
        assert cancelled == {"ids": ["mine"], "refused": {"r1": "it is over"}}
        requeued = (await ask(house, "POST", "/requeue", json={"all": True})).json()
        assert sorted(requeued["ids"]) == ["bad", "mine"]
        assert (await ask(house, "POST", "/archive", json={"match": "r[0-2]"})).json()["ids"] == ["r0", "r1", "r2"]
        await wait_all_tasks_blocked()
        assert set(desk.journal.details) == {"r3", "r4", "bad", *submitted["ids"]}


@pytest.mark.parametrize(
    ("given", "status", "taken", "refused"),
    [
        ({"r9": 1}, 200, ["r9"], []),
        ({"mine": 2}, 409, [], ["mine"]),
        ({"mine": 2, "r9": 1}, 200, ["r9"], ["mine"]),
        ({"mine": 1}, 200, ["mine"], []),
    ],
)
async def test_what_is_submitted_is_refused_by_the_status_only_if_nothing_is_taken(
    given: dict[str, int], status: int, taken: list[str], refused: list[str]
) -> None:
    async with open_port() as (house, _):
        for some in ({"mine": 1}, given):
            asked = [{"id": id, "command": "ping", "params": {"n": n}} for id, n in some.items()]  # noqa: A001
            answer = await ask(house, "POST", "/requests", json={"requests": asked})
        assert answer.status_code == status
        told = answer.json()
        assert told["ids"] == taken
        assert sorted(told["refused"]) == refused
        assert set(told["refused"].values()) <= {UNDER_WAY}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("POST", "/requests", b"{not json", 400, "Expected JSON, and this is none"),
        ("POST", "/requests", b'{"requests": [{"id": "a b", "command": "x"}]}', 400, "Request 1 of 1 cannot be taken"),
        ("POST", "/requeue", b"{}", 400, "Expected to be told which requests are meant"),
        ("POST", "/archive", b'{"everything": true}', 400, "The field 'everything' is not known"),
        ("POST", "/editor", b'{"order": "explode"}', 400, "Expected order to be something else than 'explode'"),
        ("GET", "/requests?limit=x", b"", 400, "Expected limit to be a number"),
        ("GET", "/requests?after=nobody", b"", 400, "There is no request 'nobody' any more"),
        ("POST", "/requests", b"x" * 100_001, 413, ""),
        ("PUT", "/requests", b"", 405, "There is no PUT at"),
        ("GET", "/nothing", b"", 404, "There is no page"),
    ],
)
async def test_what_is_wrong_is_answered_in_words(method: str, path: str, body: bytes, status: int, said: str) -> None:
    async with open_port() as (house, _):
        answer = await ask(house, method, path, content=body)
        assert answer.status_code == status
        assert said in answer.text


async def test_too_many_requests_at_once_are_refused_with_413() -> None:
    many = b'{"requests":[' + b",".join([b'{"command":"a"}'] * 10_001) + b"]}"
    async with desk_house() as desk:
        app = ipc_application(desk.desk, resources.files("web"))
        async with open_house(app=app) as house:
            answer = await ask(house, "POST", "/requests", content=many)
            assert (answer.status_code, "in several parts" in answer.text) == (413, True)


async def test_the_editor_is_ordered_and_answers_in_a_sentence() -> None:
    class Obeying(Actor[EditorMessage]):
        async def started(self, kept: object | None) -> None:
            self.stage.registry.claim(EDITOR, self.ref)

        async def handle(self, message: EditorMessage) -> None:
            assert isinstance(message, StopEditor | StartEditor)
            message.reply.set(f"{type(message).__name__} is done.")

    async with open_port() as (house, _):
        absent = await ask(house, "POST", "/editor", json={"order": "stop"})
        said = "No editor is managed here; name the command that starts one in ipc.editor.\n"
        assert (absent.status_code, absent.text) == (503, said)
    async with open_port(beside=[ChildSpec("editor", Obeying)]) as (house, _):
        for order, done in (("stop", "StopEditor is done."), ("start", "StartEditor is done.")):
            assert (await ask(house, "POST", "/editor", json={"order": order})).json() == {"editor": done}


@pytest.mark.parametrize("path", ["/requests", "/requeue", "/cancel", "/archive"])
async def test_where_nobody_is_at_home_it_says_so_with_503(path: str) -> None:
    body = {"requests": [{"command": "ping"}]} if path == "/requests" else {"all": True}
    async with open_port(client=False) as (house, _):
        answer = await ask(house, "POST", path, json=body)
        assert answer.status_code == 503
        assert "is not running at the moment" in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "chrome-extension://abc"},
        {"origin": "http://127.0.0.1:1"},
        {"host": "evil.example"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    ],
)
@pytest.mark.parametrize(("method", "path"), [("POST", "/requests"), ("POST", "/requeue"), ("GET", "/requests")])
async def test_a_page_from_elsewhere_neither_orders_nor_reads(method: str, path: str, headers: dict[str, str]) -> None:
    async with open_port() as (house, desk):
        answer = await ask(house, method, path, content=b'{"all": true}', headers=headers)
        assert answer.status_code in (403, 421)
        assert desk.journal.details["bad"].fact.state == "gave up"


async def test_our_own_page_may_order() -> None:
    async with open_port() as (house, desk):
        answer = await ask(house, "POST", "/requeue", json={"ids": ["bad"]}, headers={"origin": house.url})
        assert answer.json()["ids"] == ["bad"]
        assert desk.journal.details["bad"].fact.state == "waiting"


async def test_health_is_503_with_its_reasons_while_the_folder_is_lost() -> None:
    base = PaperBase()
    base.gone = "The folder is not there; make it again."
    async with open_port(base=base) as (house, desk):
        with trio.fail_after(PATIENCE):
            while not json.loads(await desk.desk.totals()).get("trouble"):  # noqa: ASYNC110 - the public figure
                await trio.sleep(0.01)
        answer = await ask(house, "GET", "/health")
        assert answer.status_code == 503
        assert answer.json() == {"status": "failing", "trouble": [base.gone]}


async def test_a_page_is_kept_up_to_date_and_asks_for_windows_and_details() -> None:
    async with open_port() as (house, desk), house.websocket("/live") as page:

        async def heard(kind: str) -> Any:
            with trio.fail_after(PATIENCE):
                while True:
                    message = json.loads(await page.get_message())
                    if message["type"] == kind:
                        return message

        while (await heard("window"))["total"] < 6:
            pass
        await page.send_message('{"type": "window", "states": ["gave up"]}')
        assert [row["id"] for row in (await heard("window"))["rows"]] == ["bad"]
        await page.send_message('{"type": "detail", "id": "bad"}')
        assert (await heard("detail"))["fact"]["id"] == "bad"
        await desk.note(fact("worse", "gave up", NOW + 1))
        assert [row["id"] for row in (await heard("window"))["rows"]] == ["worse", "bad"]
        await desk.ledger.send(PeerNow("Nobody answers.", alive=False))
        while (await heard("totals")).get("peer") != "Nobody answers.":
            pass
        await page.send_message('{"type": "detail", "id": "nobody"}')
        assert (await heard("gone"))["id"] == "nobody"
        await page.send_message("what?")
        assert (await heard("notice"))["level"] == "error"


async def test_a_page_that_says_too_much_at_once_is_cut_off() -> None:
    async with open_port() as (house, _), house.websocket("/live") as page:
        await page.send_message("x" * 10_001)

        async def read_on() -> None:
            while True:
                await page.get_message()

        with pytest.raises(ConnectionClosed) as closed, trio.fail_after(PATIENCE):
            await read_on()
        assert reason_of(closed).code == 1009


async def test_the_websocket_is_at_live_only() -> None:
    async with open_port() as (house, _):
        with pytest.raises(BaseException) as raised:  # noqa: PT011 - in a group, of the client's nursery
            async with house.websocket("/elsewhere"):
                pass
        errors = [raised.value]
        while isinstance(errors[0], BaseExceptionGroup):
            errors = list(errors[0].exceptions)
        assert isinstance(errors[0], ConnectionRejected)
        assert errors[0].status_code == 404
