"""A room and its peers, on a stage of their own under the mock clock: the connection flow of both specs, and what goes
wrong in it. The lines are ours, the wire's end is seen as plain JSON."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import msgspec
import pytest
import trio
import trio.testing

from actors.kernel import ActorRef, run, supervisor_spec
from actors.sidekick.desk import Seat, SidekickDesk, crowd_specs
from actors.sidekick.room import FORSAKEN_AFTER, GRACE
from actors.sidekick.scene import Reserve
from actors.sidekick.showing import Showings
from actors.sidekick.upkeep import MOST_HEROES

Json = dict[str, Any]


class Line:
    """The way to one peer: keeps what it was sent; can be told to be slow."""

    def __init__(self, *, takes_bundles: bool = False) -> None:
        self.takes_bundles = takes_bundles
        self.got: list[Json] = []
        self.offers = 0
        self.last = b""
        self.slow = False
        self.closed: tuple[int, str] | None = None
        self._drained: Callable[[], None] | None = None

    def frames(self, texts: Iterable[bytes]) -> bytes:
        if self.takes_bundles:
            told = [*texts]
            return b"[%b]\n" % b",".join(told) if told else b""
        return b"".join(text + b"\n" for text in texts)

    def offer(self, frames: bytes) -> bool:
        if self.slow:
            return False
        self.offers += 1
        self.last = frames
        for line in frames.splitlines():
            told = msgspec.json.decode(line)
            self.got += told if self.takes_bundles else [told]
        return True

    def restart(self, frames: bytes) -> bool:
        return self.offer(frames)

    def on_drained(self, call: Callable[[], None]) -> None:
        self._drained = call

    def hang_up(self, code: int, reason: str) -> None:
        self.closed = (code, reason)

    def drain(self) -> None:
        self.slow = False
        assert self._drained is not None
        self._drained()

    def kinds(self) -> list[str]:
        return [f"{one.get('component', one.get('module'))}/{one.get('type', one.get('method'))}" for one in self.got]

    def take(self) -> list[Json]:
        got, self.got = self.got, []
        return got


class Client:
    """One end of a conversation."""

    def __init__(self, line: Line, seat: Seat) -> None:
        self.line = line
        self._seat = seat

    async def say(self, *messages: Json) -> None:
        await self.hear([msgspec.json.encode(message) for message in messages])

    async def hear(self, texts: list[bytes]) -> None:
        """The seat hears what the wire has brought."""
        await self._seat.heard(texts)
        await trio.testing.wait_all_tasks_blocked()

    async def announce(self, role: str, status: str = "online", peer: str = "", version: str = "0.1.0") -> None:
        payload = {"peerId": peer or role, "role": role, "status": status, "version": version, "timestamp": 1}
        await self.say({"id": 0, "component": "system", "type": "announce", "payload": payload})


class House:
    def __init__(self, top: ActorRef[Any], desk: SidekickDesk) -> None:
        self.top = top
        self.desk = desk

    @asynccontextmanager
    async def client(self, room: str = "", *, takes_bundles: bool = False) -> AsyncIterator[Client]:
        line = Line(takes_bundles=takes_bundles)
        async with self.desk.attend(room, line) as seat:
            await trio.testing.wait_all_tasks_blocked()
            yield Client(line, seat)
        await trio.testing.wait_all_tasks_blocked()

    @asynccontextmanager
    async def hero_and_screen(self) -> AsyncIterator[tuple[Client, Client]]:
        async with self.client() as hero, self.client() as screen:
            await hero.announce("hero")
            await screen.announce("sidekick")
            hero.line.take()
            screen.line.take()
            yield hero, screen

    def room(self, name: str = "default") -> ActorRef[Any]:
        rooms = self.top.child("rooms")
        assert rooms is not None
        room = rooms.child(name)
        assert room is not None
        return room


@asynccontextmanager
async def house(reserve: Reserve | None = None, **limits: int) -> AsyncIterator[House]:
    async with trio.open_nursery() as nursery:
        top = await nursery.start(run, supervisor_spec("sidekick", crowd_specs(**limits)))
        stage = top._slot.stage
        wall = lambda: 1000.0 + trio.current_time()  # noqa: E731
        yield House(top, SidekickDesk(stage.registry, stage.new_id, "1.2.3", wall, reserve))
        await top.stop()


def spawn_grid(target: str = "g", **payload: Any) -> Json:
    payload = {"numColumns": 3, "numRows": 3, **payload}
    return {"id": 0, "component": "grid", "type": "spawn", "target": target, "payload": payload}


def paint(x: int, y: int, color: str = "red", target: str = "g") -> Json:
    payload = {"action": "setColor", "options": {"x": x, "y": y, "color": color}}
    return {"id": 0, "component": "grid", "type": "update", "target": target, "payload": payload}


def click(target: str = "g") -> Json:
    return {"id": 0, "component": "grid", "type": "event", "src": target, "payload": {"event": "click", "x": 0, "y": 0}}


CLEAR = {"id": 0, "component": "global", "type": "clearAll"}


# -- the connection flow of spec v2, section 4


async def test_a_hero_is_answered_at_once_by_the_server_itself(autojump_clock: object) -> None:
    async with house() as troupe, troupe.client() as hero:
        assert hero.line.got == []
        await hero.announce("hero")
        (answer,) = hero.line.got
        assert (answer["component"], answer["type"]) == ("system", "announce")
        assert (answer["payload"]["role"], answer["payload"]["status"]) == ("sidekick", "online")
        assert answer["payload"]["version"] == "1.2.3"


async def test_an_online_announce_is_told_to_all_other_peers_and_the_newcomer_is_told_who_is_online(
    autojump_clock: object,
) -> None:
    async with house() as troupe, troupe.client() as hero, troupe.client() as screen:
        await hero.announce("hero", peer="h1")
        hero.line.take()
        await screen.announce("sidekick", peer="s1")
        assert [one["payload"]["peerId"] for one in hero.line.got] == ["s1"]
        assert screen.line.kinds() == ["system/announce", "global/clearAll"]
        assert screen.line.got[0]["payload"]["peerId"] == "h1"


async def test_a_graceful_offline_is_told_once(autojump_clock: object) -> None:
    async with house() as troupe, troupe.client() as screen:
        await screen.announce("sidekick")
        screen.line.take()
        async with troupe.client() as hero:
            await hero.announce("hero")
            await hero.announce("hero", "offline")
        statuses = [one["payload"]["status"] for one in screen.line.got if one["component"] == "system"]
        assert statuses == ["online", "offline"]


async def test_a_peer_that_vanishes_is_announced_offline_for_it_with_its_last_words_relayed(
    autojump_clock: object,
) -> None:
    async with house() as troupe, troupe.client() as screen:
        await screen.announce("sidekick")
        async with troupe.client() as hero:
            await hero.announce("hero", peer="h1")
            screen.line.take()
            await hero.say(spawn_grid(), paint(0, 0))
        assert screen.line.kinds() == ["grid/spawn", "grid/update", "system/announce"]
        gone = screen.line.got[-1]["payload"]
        assert (gone["peerId"], gone["status"], gone["timestamp"]) == ("h1", "offline", 1_000_000)


# -- relaying


async def test_a_message_is_relayed_as_it_came_unknown_fields_and_all(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        strange = {**spawn_grid(), "extra": [1, {"deep": None}]}
        await hero.say(strange, paint(1, 2))
        assert screen.line.got == [strange, paint(1, 2)]
        assert hero.line.got == []


async def test_an_event_goes_to_the_hero_that_drew_what_it_happened_to(autojump_clock: object) -> None:
    click = {"id": 0, "component": "grid", "type": "event", "src": "g", "payload": {"event": "click", "x": 1, "y": 0}}
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen), troupe.client() as other:
        await other.announce("hero", peer="other")
        await hero.say(spawn_grid())
        other.line.take()
        hero.line.take()
        await screen.say(click)
        assert hero.line.got == [click]
        assert other.line.got == []
        await screen.say({**click, "src": "nobody's"})
        assert len(hero.line.got) == 2
        assert len(other.line.got) == 1


async def test_heroes_of_one_room_are_not_heard_in_another(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen), troupe.client("B") as elsewhere:
        await elsewhere.announce("sidekick", peer="e")
        elsewhere.line.take()
        await hero.say(spawn_grid())
        assert screen.line.kinds() == ["grid/spawn"]
        assert elsewhere.line.got == []


# -- what is wrong


async def test_what_is_refused_is_told_to_the_hero_and_shown_on_our_board_but_not_relayed(
    autojump_clock: object,
) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        await hero.say(spawn_grid(), paint(7, 0), paint(0, 0))
        (fault,) = hero.line.got
        assert (fault["component"], fault["type"], fault["src"]) == ("grid", "error", "g")
        assert "x" in fault["payload"]["message"]
        assert screen.line.kinds() == ["grid/spawn", "grid/error", "grid/update"]


async def test_what_is_wrong_in_a_loop_costs_each_page_one_send(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        before = hero.line.offers, screen.line.offers
        await hero.say(spawn_grid(), *[paint(7, 0), paint(0, 0)] * 50)
        assert (hero.line.offers, screen.line.offers) == (before[0] + 1, before[1] + 1)
        assert hero.line.kinds() == ["grid/error"] * 50
        assert screen.line.kinds() == ["grid/spawn", *["grid/error", "grid/update"] * 50]


async def test_a_page_that_announces_itself_in_a_loop_is_shown_the_board_once(autojump_clock: object) -> None:
    payload = {"peerId": "s", "role": "sidekick", "status": "online", "version": "0.1.0", "timestamp": 1}
    async with house() as troupe, troupe.client() as hero, troupe.client() as screen:
        await hero.announce("hero")
        await hero.say(spawn_grid())
        await screen.say(*[{"id": 0, "component": "system", "type": "announce", "payload": payload}] * 50)
        assert screen.line.kinds()[-2:] == ["global/clearAll", "grid/spawn"]
        assert screen.line.kinds().count("global/clearAll") == 1
        screen.line.take()
        await screen.announce("sidekick", peer="s")
        assert screen.line.kinds()[-2:] == ["global/clearAll", "grid/spawn"]


async def test_announces_in_a_loop_cost_each_other_peer_one_send_and_come_before_what_is_drawn_after_them(
    autojump_clock: object,
) -> None:
    def announce(peer: str) -> Json:
        payload = {"peerId": peer, "role": "hero", "status": "online", "version": "0.1.0", "timestamp": 1}
        return {"id": 0, "component": "system", "type": "announce", "payload": payload}

    async with house() as troupe, troupe.hero_and_screen() as (other, screen), troupe.client() as hero:
        before = other.line.offers
        await hero.say(*[announce(f"h{number}") for number in range(50)], spawn_grid())
        assert other.line.offers == before + 1
        told = [(one["payload"]["peerId"], one["payload"]["status"]) for one in other.line.got]
        gone_and_come = [(f"h{number + step}", ("offline", "online")[step]) for number in range(49) for step in (0, 1)]
        assert told == [("h0", "online"), *gone_and_come]
        assert screen.line.kinds() == [*["system/announce"] * 99, "grid/spawn"]


async def test_what_was_wrong_before_an_announce_is_told_before_its_answer(autojump_clock: object) -> None:
    async with house() as troupe, troupe.client() as hero:
        payload = {"peerId": "h", "role": "hero", "status": "online", "version": "0.1.0", "timestamp": 1}
        await hero.say({}, {"id": 0, "component": "system", "type": "announce", "payload": payload})
        assert hero.line.kinds() == ["system/error", "system/announce"]


async def test_nonsense_is_answered_and_nobody_else_notices(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, _screen):
        await hero._seat.heard([b"not json", b"\xff\xfe", b"[]", b'"x"', b"{}", b'{"component": 3, "type": []}'])
        await trio.testing.wait_all_tasks_blocked()
        assert len(hero.line.got) >= 5
        assert set(hero.line.kinds()) == {"system/error"} or all(one["type"] == "error" for one in hero.line.got)
        await hero.say(spawn_grid())
        assert troupe.room().statistics().restarts == 0


async def test_a_sidekick_does_not_draw(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        await screen.say(spawn_grid())
        assert screen.line.got[0]["type"] == "error"
        assert hero.line.got == []


async def test_a_sidekick_does_not_clear_the_board(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        await hero.say(spawn_grid())
        screen.line.take()
        await screen.say(CLEAR)
        (told,) = screen.line.take()
        assert told["payload"]["message"] == "a sidekick does not clear the board"
        await hero.say(paint(0, 0))
        assert hero.line.got == []


@pytest.mark.parametrize("message", [click(), {**click(), "type": "error", "payload": {"message": "x"}}])
async def test_a_hero_does_not_say_what_happens_on_the_board(autojump_clock: object, message: Json) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, _):
        await hero.say(spawn_grid(), message)
        (told,) = hero.line.got
        assert (told["component"], told["src"]) == ("grid", "g")
        assert told["payload"]["message"] == "a hero does not send events or errors"


@pytest.mark.parametrize("kind", ["event", "error"])
async def test_a_hero_is_told_nothing_longer_than_its_client_takes(autojump_clock: object, kind: str) -> None:
    payload = {"event": "submit", "value": "x" * 2**20} if kind == "event" else {"message": "x" * 2**20}
    box = {"id": 0, "component": "textbox", "type": "spawn", "target": "t", "payload": {}}
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        await hero.say(box)
        screen.line.take()
        await screen.say({"id": 0, "component": "textbox", "type": kind, "src": "t", "payload": payload})
        (told,) = screen.line.got
        assert told["type"] == "error"
        assert told["payload"]["message"].startswith("a message to a script may be 1,000,000 bytes long, not 1,0")
        assert hero.line.got == []


# -- coming late, coming back, falling behind


async def test_a_screen_that_comes_late_is_shown_the_present(autojump_clock: object) -> None:
    async with house() as troupe, troupe.client() as hero:
        await hero.announce("hero")
        await hero.say(CLEAR, spawn_grid(), paint(0, 0), paint(0, 0, "blue"))
        async with troupe.client() as late:
            await late.announce("sidekick")
            assert late.line.kinds() == ["system/announce", "global/clearAll", "grid/spawn", "grid/update"]
            assert late.line.got[-1]["payload"]["options"]["color"] == "blue"


async def test_a_hero_that_comes_back_in_time_finds_its_board(autojump_clock: object) -> None:
    async with house() as troupe, troupe.client() as screen:
        await screen.announce("sidekick")
        async with troupe.client() as hero:
            await hero.announce("hero", peer="h1")
            await hero.say(CLEAR, spawn_grid())
        await trio.sleep(GRACE - 1)
        async with troupe.client() as again:
            await again.announce("hero", peer="h1")
            screen.line.take()
            await again.say(CLEAR, paint(1, 1))
            assert screen.line.kinds() == ["grid/update"]
            await again.say(CLEAR)
            assert screen.line.kinds()[-1] == "global/clearAll"


async def test_a_hero_that_came_back_may_clear_its_board_later(autojump_clock: object) -> None:
    async with house() as troupe, troupe.client() as screen:
        await screen.announce("sidekick")
        async with troupe.client() as hero:
            await hero.announce("hero", peer="h1")
            await hero.say(CLEAR, spawn_grid())
        async with troupe.client() as again:
            await again.announce("hero", peer="h1")
            await trio.sleep(GRACE + 1)
            screen.line.take()
            await again.say(CLEAR)
            assert screen.line.kinds() == ["global/clearAll"]


async def test_a_hero_is_back_before_its_old_connection_is_found_to_have_ended(autojump_clock: object) -> None:
    async with house() as troupe, troupe.client() as screen:
        await screen.announce("sidekick")
        async with troupe.client() as again:
            async with troupe.client() as hero:
                await hero.announce("hero", peer="h1")
                await hero.say(CLEAR, spawn_grid())
                await again.announce("hero", peer="h1")
                screen.line.take()
                await again.say(CLEAR, paint(1, 1))
                assert screen.line.kinds() == ["grid/update"]
            await trio.sleep(GRACE + 1)
            await again.say(paint(2, 2))
            assert screen.line.kinds() == ["grid/update", "grid/update"], "nobody was announced offline"


async def test_however_many_heroes_come_and_go_the_room_stands_and_the_last_of_them_may_come_back(
    autojump_clock: object,
) -> None:
    crowd = MOST_HEROES + 100
    async with house() as troupe, troupe.client() as screen:
        await screen.announce("sidekick")
        for number in range(crowd):
            async with troupe.client() as hero:
                await hero.announce("hero", peer=f"h{number}")
        assert troupe.room().statistics().restarts == 0
        troupe.room().kill()
        await trio.sleep(1)
        assert troupe.room().statistics().restarts == 1
        for number, absorbs in ((0, False), (crowd - 1, True)):
            async with troupe.client() as again:
                await again.announce("hero", peer=f"h{number}")
                screen.line.take()
                await again.say(CLEAR)
                assert ("global/clearAll" not in screen.line.kinds()) is absorbs


async def test_a_hero_that_leaves_twice_takes_no_others_place_among_those_who_may_come_back(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had two connections."""
    monkeypatch.setattr("actors.sidekick.room.MOST_HEROES", 2)
    async with house() as troupe, troupe.client() as screen:
        await screen.announce("sidekick")
        for names in (["first"], ["twice", "twice"]):
            async with AsyncExitStack() as stack:
                for name in names:
                    await (await stack.enter_async_context(troupe.client())).announce("hero", peer=name)
        for name in ("first", "twice"):
            async with troupe.client() as again:
                await again.announce("hero", peer=name)
                screen.line.take()
                await again.say(CLEAR)
                assert "global/clearAll" not in screen.line.kinds(), name


async def test_each_hero_that_is_away_has_its_own_time(autojump_clock: object) -> None:
    async with house() as troupe, troupe.client() as screen:
        await screen.announce("sidekick")
        for name in ("early", "middle", "late"):
            async with troupe.client() as hero:
                await hero.announce("hero", peer=name)
            await trio.sleep(GRACE / 3)
        await trio.sleep(GRACE / 2)  # early and middle are over
        for name, absorbs in (("middle", False), ("early", False), ("late", True)):
            async with troupe.client() as again:
                await again.announce("hero", peer=name)
                screen.line.take()
                await again.say(CLEAR)
                assert ("global/clearAll" not in screen.line.kinds()) is absorbs


async def test_a_peer_with_a_new_id_has_left_under_the_old_one(autojump_clock: object) -> None:
    async with house() as troupe, troupe.client() as screen, troupe.client() as hero:
        await screen.announce("sidekick")
        await hero.announce("hero", peer="one")
        screen.line.take()
        await hero.announce("hero", peer="two")
        told = [(one["payload"]["peerId"], one["payload"]["status"]) for one in screen.line.got]
        assert told == [("one", "offline"), ("two", "online")]


async def test_a_hero_that_comes_back_too_late_begins_anew(autojump_clock: object) -> None:
    async with house() as troupe, troupe.client() as screen:
        await screen.announce("sidekick")
        async with troupe.client() as hero:
            await hero.announce("hero", peer="h1")
            await hero.say(spawn_grid())
        await trio.sleep(GRACE + 1)
        async with troupe.client() as again:
            await again.announce("hero", peer="h1")
            screen.line.take()
            await again.say(CLEAR)
            assert screen.line.kinds() == ["global/clearAll"]


async def test_a_new_script_clears_what_a_dead_one_left_but_not_what_a_living_one_drew(autojump_clock: object) -> None:
    async with house() as troupe, troupe.client() as screen, troupe.client() as living:
        await screen.announce("sidekick")
        await living.announce("hero", peer="living")
        await living.say(spawn_grid("theirs"))
        async with troupe.client() as dead:
            await dead.announce("hero", peer="dead")
            await dead.say(spawn_grid("left"))
        async with troupe.client() as new:
            await new.announce("hero", peer="new")
            screen.line.take()
            await new.say(CLEAR)
            assert [(one["type"], one["target"]) for one in screen.line.got] == [("remove", "left")]


async def test_a_slow_screen_is_shown_everything_once_it_reads_again_and_nobody_waited(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, slow), troupe.client() as quick:
        await quick.announce("sidekick", peer="quick")
        await hero.say(spawn_grid())
        slow.line.take()
        quick.line.take()
        slow.line.slow = True
        for color in ("red", "green", "blue"):
            await hero.say(paint(0, 0, color))
        assert len(quick.line.got) == 3
        slow.line.drain()
        await trio.testing.wait_all_tasks_blocked()
        assert slow.line.kinds() == ["global/clearAll", "grid/spawn", "grid/update"]
        assert slow.line.got[-1]["payload"]["options"]["color"] == "blue"
        await hero.say(paint(1, 1))
        assert slow.line.kinds()[-1] == "grid/update"


async def test_a_crash_of_the_room_loses_neither_board_nor_peers(autojump_clock: object) -> None:
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen):
        await hero.say(spawn_grid())
        troupe.room().kill()
        await trio.sleep(1)
        await hero.say(paint(0, 0))
        assert screen.line.kinds() == ["grid/spawn", "global/clearAll", "grid/spawn", "grid/update"]
        assert troupe.room().statistics().restarts == 1


async def test_all_rooms_share_one_memory_and_a_forsaken_one_gives_its_part_back(autojump_clock: object) -> None:
    label = {"id": 0, "component": "label", "type": "spawn", "target": "l", "payload": {"text": "x" * 10_000}}
    async with house(Reserve(15_000)) as troupe, troupe.client("here") as here:
        await here.announce("hero")
        here.line.take()
        async with troupe.client("there") as there:
            await there.announce("hero")
            await there.say(label)
            await here.say(label)
            (told,) = here.line.take()
            assert "all boards together are full (15,000 bytes)" in told["payload"]["message"]
        await here.say(label)
        assert here.line.got == []


async def test_the_default_room_can_be_asked_for_by_name() -> None:
    async with house() as troupe, troupe.client("default") as hero, troupe.client("") as screen:
        await hero.announce("hero")
        await screen.announce("sidekick")
        assert troupe.room().statistics().note == "1 drawing, 1 watching"


@pytest.mark.parametrize(
    ("message", "note"),
    [
        pytest.param(CLEAR, "1 drawing, 0 watching", id="it clears the board, and there is nothing to relay"),
        pytest.param(spawn_grid(), "1 drawing, 0 watching", id="it draws"),
        pytest.param(click("nobody's"), "0 drawing, 1 watching", id="it sends an event"),
    ],
)
async def test_a_peer_counts_from_the_message_that_shows_its_part(message: Json, note: str) -> None:
    async with house() as troupe, troupe.client() as peer:
        assert troupe.room().statistics().note == "0 drawing, 0 watching"
        await peer.say(message)
        assert troupe.room().statistics().note == note


async def test_whoever_is_in_a_room_that_ends_for_good_is_let_go() -> None:
    async with house() as troupe, troupe.client("r") as script, troupe.client("r") as page:
        await script.announce("hero")
        await page.announce("sidekick")
        peers = troupe.top.child("peers")
        assert peers is not None
        assert len(peers.children()) == 2
        await troupe.room("r").stop()
        await trio.testing.wait_all_tasks_blocked()
        assert peers.children() == []


async def test_a_room_that_is_forsaken_goes_and_the_default_room_stays(autojump_clock: object) -> None:
    async with house() as troupe:
        async with troupe.client("B"), troupe.client():
            pass
        await trio.sleep(FORSAKEN_AFTER + 1)
        rooms = troupe.top.child("rooms")
        assert rooms is not None
        assert [room.path for room in rooms.children()] == ["sidekick/rooms/default"]
        async with troupe.client("B"):
            assert troupe.room("B").alive


async def test_a_thousand_comings_and_goings_leave_nothing(autojump_clock: object) -> None:
    async with house() as troupe:
        for _ in range(50):
            async with AsyncExitStack() as stack:
                clients = [await stack.enter_async_context(troupe.client(str(n % 3))) for n in range(20)]
                for number, client in enumerate(clients):
                    await client.announce("hero" if number % 2 else "sidekick", peer=str(number))
        await trio.sleep(FORSAKEN_AFTER + GRACE + 1)
        peers, rooms = troupe.top.child("peers"), troupe.top.child("rooms")
        assert peers is not None
        assert rooms is not None
        assert peers.children() == []
        assert rooms.children() == []


# -- dialects meet


async def test_a_released_client_drives_a_page_that_speaks_the_spec(autojump_clock: object) -> None:
    """sidekick-py 0.0.5 (dialect C) and a page in D: each hears its own words."""
    announce = {"peerId": "old", "role": "hero", "status": "online", "version": "0.0.5", "timestamp": 1}
    async with house() as troupe, troupe.client() as screen, troupe.client() as hero:
        await screen.announce("sidekick")
        screen.line.take()
        await hero.say({"id": 0, "module": "system", "type": "announce", "payload": announce})
        assert hero.line.got[0]["module"] == "system"
        payload = {"numColumns": 2, "numRows": 2}
        await hero.say({"id": 0, "module": "grid", "type": "spawn", "target": "g", "payload": payload})
        assert screen.line.got[-1]["component"] == "grid"
        click = {"event": "click", "x": 1, "y": 0}
        await screen.say({"id": 0, "component": "grid", "type": "event", "src": "g", "payload": click})
        assert hero.line.got[-1] == {"id": 0, "module": "grid", "type": "event", "src": "g", "payload": click}


async def test_a_hero_of_the_first_spec_that_never_announces_is_served(autojump_clock: object) -> None:
    async with house() as troupe, troupe.client() as screen, troupe.client() as hero:
        await screen.announce("sidekick")
        screen.line.take()
        await hero.say({"id": 0, "module": "grid", "method": "spawn", "target": "g", "payload": {"size": [2, 2]}})
        update = {"x": 0, "y": 1, "color": "red"}
        await hero.say({"id": 0, "module": "grid", "method": "update", "target": "g", "payload": update})
        assert screen.line.kinds() == ["global/clearAll", "grid/spawn", "grid/update"]
        assert screen.line.got[1]["payload"] == {"numColumns": 2, "numRows": 2}
        click = {"event": "click", "x": 1, "y": 0}
        await screen.say({"id": 0, "component": "grid", "type": "event", "src": "g", "payload": click})
        assert hero.line.got[-1]["method"] == "notify"


async def test_a_second_run_of_a_script_that_announces_nothing_begins_with_an_empty_board(
    autojump_clock: object,
) -> None:
    grid = {"id": 0, "module": "grid", "method": "spawn", "target": "g", "payload": {"size": [2, 2]}}
    async with house() as troupe, troupe.client() as screen:
        await screen.announce("sidekick")
        for _ in range(2):
            async with troupe.client() as hero:
                screen.line.take()
                await hero.say(grid)
                assert screen.line.kinds()[:2] == ["global/clearAll", "grid/spawn"]
                assert hero.line.got == []


async def test_a_canvas_that_moves_is_painted_again_for_the_released_page(autojump_clock: object) -> None:
    canvas = {"component": "canvas", "type": "spawn", "target": "c", "payload": {"width": 10, "height": 10}}
    row = {"component": "row", "type": "spawn", "target": "r", "payload": {}}
    options = {"x1": 0, "y1": 0, "x2": 5, "y2": 5}
    line = {"component": "canvas", "type": "update", "target": "c"}
    move = {**line, "payload": {"action": "changeParent", "options": {"parent": "r"}}}
    async with house() as troupe, troupe.client() as hero, troupe.client() as ours, troupe.client() as released:
        await hero.announce("hero")
        await ours.announce("sidekick", peer="ours")
        await released.announce("sidekick", peer="released", version="0.0.8")
        await hero.say(canvas, row, {**line, "payload": {"action": "drawLine", "options": options}})
        ours.line.take()
        released.line.take()
        await hero.say(move)
        assert [one["payload"]["action"] for one in ours.line.got] == ["changeParent"]
        assert [one["payload"]["action"] for one in released.line.got] == ["changeParent", "drawLine"]


@pytest.mark.parametrize("version", ["0.1.0", "0.0.8"])
async def test_what_pages_of_one_dialect_are_told_is_put_into_words_once(autojump_clock: object, version: str) -> None:
    """The very same bytes object: how many pages there are costs an offer each, and nothing else."""
    async with house() as troupe, troupe.client() as hero, AsyncExitStack() as stack:
        await hero.announce("hero")
        pages = [await stack.enter_async_context(troupe.client()) for _ in range(5)]
        for number, page in enumerate(pages):
            await page.announce("sidekick", peer=f"page {number}", version=version)
        markdown = {"id": 0, "component": "markdown", "type": "spawn", "target": "m", "payload": {"initialSource": "#"}}
        for drawn in (spawn_grid(), paint(0, 0), markdown):
            await hero.say(drawn)
            assert len({id(page.line.last) for page in pages}) == 1
        assert list(pages[0].line.got[-1]["payload"]) == ["text" if version == "0.0.8" else "initialSource"]


async def test_a_large_board_is_shown_in_turns_of_the_room_and_whole(autojump_clock: object) -> None:
    size = 120
    async with house() as troupe, troupe.hero_and_screen() as (hero, screen), troupe.client() as late:
        await hero.say(spawn_grid(numColumns=size, numRows=size))
        for x in range(size):
            await hero.say(*(paint(x, y) for y in range(size)))
        screen.line.take()
        offers = late.line.offers
        await late.announce("sidekick", peer="late")
        await trio.sleep(1)
        assert late.line.kinds()[-2:] == ["grid/update", "grid/update"]
        assert late.line.kinds().count("grid/update") == size * size
        assert late.line.offers == offers + 2, "who is online, and the board"
        await hero.say(paint(0, 0, "blue"))
        assert late.line.got[-1] == screen.line.got[-1] == paint(0, 0, "blue")


async def test_what_is_drawn_while_a_large_board_is_shown_comes_after_it(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.sidekick.room.Showings", partial(Showings, small=0, piece=1))
    async with house() as troupe, troupe.client() as hero, troupe.client() as early, troupe.client() as late:
        await hero.announce("hero")
        await early.announce("sidekick", peer="early")
        await hero.say(*(spawn_grid(f"g{number}") for number in range(9)))
        drawn = 9
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(late.announce, "sidekick", peer="late"))
            while "grid/spawn" not in late.line.kinds():
                await hero._seat.heard([msgspec.json.encode(spawn_grid(f"g{drawn}"))])
                await trio.lowlevel.checkpoint()
                drawn += 1
                assert drawn < 1_000
        await trio.testing.wait_all_tasks_blocked()
        assert drawn > 10
        for screen in (early, late):
            seen = [one["target"] for one in screen.line.got if one["component"] == "grid"]
            assert seen == [f"g{number}" for number in range(drawn)]
