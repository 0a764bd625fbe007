"""A room: the heroes and the screens that see the same board.

Rules
  - The server itself is a sidekick, so a hero is answered at once even without a browser, and a browser never slows it.
  - A message is folded into the scene before it is relayed. If the scene refuses it, it is not relayed, and its sender
    is told why in its own dialect.
  - Every screen eventually shows the scene. A screen that is new or fell behind (after a crash of the room: every
    screen) is shown the whole scene and then the changes. (showing.py does this, in turns.)
  - If a peer's connection ends without an announce, the room announces it as offline, once. A hero that comes back
    within `GRACE` seconds finds its board: all clients send a clearAll when they reconnect, which is not meant to clear
    anything, and is ignored if it comes within that time.
  - A hero's clearAll clears its own components and those without an owner, never those of another hero that is online.
  - An event goes to the owner of the component that it happened to, or to all heroes if there is none.

Everything here is synchronous: a batch is heard, folded and offered to every screen within one turn. The lines keep
whatever cannot be sent at once.
"""

import math
from collections.abc import Callable
from typing import Any

import trio
from msgspec.structs import replace

from actors.kernel import Actor, AnyRef, Down, Stop, Timer
from actors.sidekick.clearing import BOARD, CLEAR, FOLLOW, BoardState, Cleared, state_message
from actors.sidekick.member import Member, Part, Tongue
from actors.sidekick.messages import Drained, Forsaken, GraceOver, Heard, Joined, PictureWanted, RoomMessage, ShowOn
from actors.sidekick.scene import Drawn, Limits, Reserve, Scene
from actors.sidekick.showing import Showings, shown
from actors.sidekick.upkeep import MOST_HEROES, Upkeep
from actors.sidekick.vacancies import Vacancies
from codec.sidekick import (
    Announce,
    Bad,
    ClearAll,
    Dialect,
    Event,
    Fault,
    Other,
    Said,
    Spawn,
    Update,
    encode,
)

GRACE = 30.0
FORSAKEN_AFTER = 600.0
ARRIVAL = 30.0
"""A new room waits so long for the peer for which it was made. Until one has come, it does not make way for others."""
MOST_MEMBERS = 512
FULL = 1013
LONGEST_FEEDBACK = 1_000_000
"""The most bytes that an event or an error may have. A released client (0.0.7) hangs up at more than 1 MiB."""


class Room(Actor[RoomMessage]):
    def __init__(
        self,
        name: str,
        version: str,
        wall: Callable[[], float],
        *,
        lasting: bool = False,
        limits: Limits | None = None,
        reserve: Reserve | None = None,
        vacancies: Vacancies | None = None,
    ) -> None:
        """`lasting`: the room does not end when it is empty. `reserve`: the memory that all rooms share. `vacancies`:
        the empty rooms. One of them gives way when the memory, or the number of rooms, is used up."""
        self.name = name
        self._version = version
        self._wall = wall
        self._lasting = lasting
        self._vacancies = vacancies if vacancies is not None else Vacancies()
        self.scene = Scene(limits, reserve)
        self.members: dict[AnyRef, Member] = {}
        self._away: dict[str, float] = {}  # heroes that lost their connection, by peerId: until when they may come back
        self._grace: Timer | None = None  # pending <=> for one of them that is not for ever
        # The speaker is the peer whose messages are being heard.
        self._relayed: list[Drawn | Fault] = []  # messages folded, and faults, that are not yet offered to the screens
        self._news: list[Announce] = []  # not yet told to the other peers; must go out before `_relayed`
        self._wrong: list[Fault] = []  # not yet told to the speaker
        self._wants_to_see = False  # the speaker has announced itself as a screen
        self._showings = Showings()
        self._show_on: Timer | None = None  # pending <=> there are showings
        self._forsaken: Timer | None = None
        self._cleared = Cleared()
        self._scripts = self._pages = 0
        self._was_visited = False
        self._state: BoardState | None = None  # as it was last told to the pages that follow it

    async def started(self, kept: object | None) -> None:
        beside = self.incarnation.run_beside  # the room's own would make the two know each other (Actor.let_go)
        self._upkeep = Upkeep(self.name, self.ref, self.stage, self._wall, beside)
        if isinstance(kept, tuple):
            self.scene, self.members, self._away, self._was_visited = kept
            self._upkeep.soil()
            for ref in self.members:
                self.monitor(ref)
            self._let_grace_end()
            for member in self.members.values():
                member.unshown = False
                if member.part is Part.SCREEN:  # a message may have been folded and not relayed
                    self._show(member)
        else:
            self._away.update(dict.fromkeys(reversed(await self._upkeep.restore(self.scene)), math.inf))
        self._look_around()

    def keep(self) -> object:
        return self.scene, self.members, self._away, self._was_visited

    def at_once(self, message: RoomMessage) -> bool:
        if isinstance(message, Heard):
            member = self.members.get(message.peer)
            if member is not None:
                self._hear(member, message.texts)
        elif isinstance(message, PictureWanted):
            self._upkeep.picture(self.scene, self._heroes() if message.keep else None)
            self._look_at_board()
        else:
            return False
        return True

    async def handle(self, message: RoomMessage) -> None:
        match message:
            case Heard() | PictureWanted():
                self.at_once(message)
            case Joined(peer, line, takes_part):
                self._join(Member(peer, line, takes_part))
            case Drained(peer):
                member = self.members.get(peer)
                if member is not None and member.behind:
                    if member.part is Part.SCREEN:
                        self._show(member)
                        self._tell_state(member)
                    else:  # a hero has only missed messages that it did not read in time
                        member.restart(b"")
            case ShowOn():
                self._showings.go_on(self.scene)
                self._take_turns()
                if not self._showings:
                    self._tell_state()
            case GraceOver():
                now = trio.current_time()
                self._away = {peer_id: until for peer_id, until in self._away.items() if until > now}
                self._let_grace_end()
            case Forsaken():
                if not self.members:
                    self._vacancies.leave(self.ref)
                    self.finish()
            case _:
                self.unknown(message)

    async def stopping(self, stop: Stop) -> None:
        if stop.why.normal:
            await self._upkeep.last_words(self.scene, self._heroes())
            self.scene.empty()

    async def down(self, down: Down) -> None:
        member = self.members.pop(down.ref, None)
        if member is not None:
            self._leave(member)

    # -- coming and going

    def _join(self, member: Member) -> None:
        if len(self.members) >= MOST_MEMBERS:
            member.line.hang_up(FULL, f"this room has {MOST_MEMBERS} peers, which is all it takes")
            return
        self._was_visited = True
        self.members[member.ref] = member
        self.monitor(member.ref)
        member.line.on_drained(lambda: self.ref.urgent(Drained(member.ref)))
        self._look_around()

    def _leave(self, member: Member) -> None:
        if member.announce is not None:
            gone = member.announce
            if member.part is Part.HERO:
                self._wait_for(gone.peer_id)
            self._tell_others(member, self._announce(gone.peer_id, gone.role, "offline", gone.version))
        self._showings.leave(member)
        self._look_around()

    def _wait_for(self, peer_id: str) -> None:
        if len(self._away) >= MOST_HEROES:
            del self._away[next(iter(self._away))]
        self._away[peer_id] = trio.current_time() + GRACE
        self._let_grace_end()

    def _let_grace_end(self) -> None:
        """One timer for all that are away: however many come and go, an actor may have only so many."""
        first = min(self._away.values(), default=math.inf)
        if first < math.inf and (self._grace is None or not self._grace.pending):
            self._grace = self.tell_later(max(0.0, first - trio.current_time()), GraceOver())

    def _look_around(self) -> None:
        """A peer has come or gone, or has taken a part."""
        self._scripts, self._pages = self._count(Part.HERO), self._count(Part.SCREEN)
        self.note = f"{self._scripts} drawing, {self._pages} watching"
        self._look_at_board()
        if not self._scripts:
            self._cleared.forget()
        if self._forsaken is not None:
            self._forsaken.cancel()
            self._forsaken = None
        self._vacancies.leave(self.ref)
        if not self.members and not self._lasting:
            self._forsaken = self.tell_later(FORSAKEN_AFTER if self._was_visited else ARRIVAL, Forsaken())
            if self._was_visited:
                self._vacancies.enter(self.ref, self._give_way)

    def _look_at_board(self) -> None:
        """Tell how the board stands, if that is news."""
        drawn_at = None if self.scene.is_empty else self._upkeep.drawn_at
        self._upkeep.tell(self._scripts, self._pages, drawn_at)
        state = BoardState(self._scripts, None if drawn_at is None else int(drawn_at * 1000))
        if state != self._state:
            self._state = state
            self._tell_state()

    def _give_way(self) -> None:
        """Drop the board at once, because its memory or its place is needed now. Then the room ends, unless a peer has
        come meanwhile."""
        self._upkeep.let_go(self.scene, self._heroes())
        self.scene.empty()
        self.ref.urgent(Forsaken())

    def _heroes(self) -> list[str]:
        """The heroes that are connected, and those that may come back, the one that left last first."""
        here = [one.announce.peer_id for one in self.members.values() if one.part is Part.HERO and one.announce]
        return [*here, *reversed(self._away)]

    def _count(self, part: Part) -> int:
        return sum(member.part is part for member in self.members.values())

    # -- hearing

    def _hear(self, member: Member, texts: list[bytes]) -> None:
        fold, relayed, hear = self.scene.fold, self._relayed, member.ear_for(texts).hear
        owner = _owner(member)
        for text in texts:
            try:
                heard = hear(text)
            except Exception as error:
                member.fail(error)
                break
            for said in heard if isinstance(heard, list) else (heard,):
                if type(said) is Update and member.part is Part.HERO:  # nearly all messages are updates
                    refusal = fold(said, owner)
                    if refusal is None:
                        relayed.append(said)
                        if said.action == "changeParent":
                            self._repaint(member, said.target)
                    else:
                        self._refuse(member, said, refusal)
                elif type(said) is Event and member.part is Part.SCREEN:  # and nearly all answers are events
                    self._from_screen(member, said)
                else:
                    self._heard(member, said)
                    owner = _owner(member)
        self._answer(member)
        if self._news:
            self._spread_news(member)
        if self._wants_to_see:  # once in a turn: a board may be large, and many short announces come in one
            self._wants_to_see = False
            self._show(member)
            self._tell_state(member)

    def _answer(self, member: Member) -> None:
        """Relay the messages that were heard from this peer, and tell it what was wrong with them."""
        if self._relayed:
            self._relay(member)
        if self._wrong:
            wrong, self._wrong = self._wrong, []
            member.tell(*wrong)

    def _heard(self, member: Member, said: Said) -> None:
        match said:
            case Announce():
                self._answer(member)
                self._announced(member, said)
            case Bad(component, target, sentence):
                self._tell_wrong(member, Fault(component, target, sentence))
            case Event() | Fault():
                self._from_screen(member, said)
            case Other(src=str()):
                self._from_screen(member, said)
            case Other(component=component, type=what) if component == BOARD and member.part is Part.SCREEN:
                self._about_the_board(member, what)
            case ClearAll():
                self._clear(member, said)
            case _:
                self._draw(member, said)

    def _announced(self, member: Member, said: Announce) -> None:
        part = Part.HERO if said.role == "hero" else Part.SCREEN
        if member.part not in (Part.SILENT, part):
            self._tell_wrong(member, Fault("system", "", f"this peer is a {member.part.value} already"))
            return
        if part is Part.HERO:
            member.draws()
        else:
            member.looks()
        if said.status == "offline":
            if member.announce is not None:
                member.announce = None
                self._news.append(said)
            return
        before = member.announce
        if before is not None and before.peer_id != said.peer_id:
            self._news.append(self._announce(before.peer_id, before.role, "offline", before.version))
        if self._is_back(member, said.peer_id) and part is Part.HERO:
            member.absorbs_clear_until = trio.current_time() + GRACE
        member.announce = said
        self._news.append(said)
        online = [one.announce for one in self.members.values() if one is not member and one.announce is not None]
        if part is Part.HERO:
            member.tell(self._announce("troupe", "sidekick", "online", self._version), *online)
        else:
            member.tell(*online)
            self._wants_to_see = True
        self._look_around()

    def _is_back(self, member: Member, peer_id: str) -> bool:
        """Whether this peer was here before, on a connection that has ended or is dead but not yet detected as such."""
        was_waited_for = member.part is Part.HERO and peer_id in self._away
        if was_waited_for:
            del self._away[peer_id]
        others = [one for one in self.members.values() if one is not member and one.part is member.part]
        lost = [one for one in others if _owner(one) == peer_id]
        for one in lost:
            one.announce = None  # when this connection ends, nobody is announced offline
        return was_waited_for or bool(lost)

    def _about_the_board(self, member: Member, what: str) -> None:
        if what == FOLLOW:
            member.follows = True
            if not self._wants_to_see:  # or it is told when that has been seen to
                self._tell_state(member)
        elif what == CLEAR:
            heroes = [(_owner(one), one) for one in self.members.values() if one.part is Part.HERO]
            self._cleared.take(self.scene, heroes)
            self._relayed.append(ClearAll(encode(ClearAll())))
            self._upkeep.soil(at_once=True)
            self._look_at_board()

    def _tell_state(self, *members: Member) -> None:
        if self._state is not None:
            for member in members or self.members.values():
                if member.follows:
                    member.tell(state_message(self._state, showing=member.unshown))

    def _draw(self, member: Member, said: Drawn) -> None:
        if member.part is Part.SCREEN:
            target = getattr(said, "target", None) or ""
            self._tell_wrong(member, Fault(getattr(said, "component", "system"), target, "a sidekick does not draw"))
            return
        if member.part is Part.SILENT:  # dialect A neither announces nor clears: this is a new script
            member.draws()
            self._relayed.extend(self.scene.clear(ClearAll(encode(ClearAll())), self._other_owners(member)))
            self._look_around()
        refusal = self.scene.fold(said, _owner(member))
        if refusal is None:
            self._relayed.append(said)
            if type(said) is Spawn:
                self._cleared.spawned(said.target)
        else:
            self._refuse(member, said, refusal)

    def _clear(self, member: Member, said: ClearAll) -> None:
        if member.part is Part.SCREEN:
            self._tell_wrong(member, Fault("global", "", "a sidekick does not clear the board"))
            return
        if member.draws():
            self._look_around()
        absorbed = trio.current_time() < member.absorbs_clear_until
        member.absorbs_clear_until = 0.0
        if absorbed:
            return
        self._relayed.extend(self.scene.clear(said, self._other_owners(member)))

    def _other_owners(self, member: Member) -> set[str]:
        """The other heroes that are connected. This one's clearAll must not clear their components."""
        heroes = [one for one in self.members.values() if one.part is Part.HERO]
        return {_owner(one) for one in heroes if one is not member} - {_owner(member)}

    def _from_screen(self, member: Member, said: Event | Fault | Other) -> None:
        if member.part is Part.HERO:
            self._tell_wrong(member, Fault(said.component, said.src or "", "a hero does not send events or errors"))
            return
        if member.looks():
            self._look_around()
        if len(said.raw) > LONGEST_FEEDBACK:
            wrong = f"a message to a script may be {LONGEST_FEEDBACK:,} bytes long, not {len(said.raw):,}"
            self._tell_wrong(member, Fault(said.component, said.src or "", wrong))
            return
        if type(said) is Fault and not self.scene.is_news(said, member.ref, self.members.keys()):
            return
        if type(said) is Event and (value := self.scene.submitted(said)) is not None:
            self._relayed.append(value)
        owner = self.scene.owner(said.src or "")
        heroes = [one for one in self.members.values() if one.part is Part.HERO]
        for hero in heroes if len(heroes) == 1 else [one for one in heroes if _owner(one) == owner] or heroes:
            hero.tell(said)

    # -- speaking

    def _relay(self, speaker: Member) -> None:
        messages = self._relayed
        if not messages:
            return
        if self._upkeep.clean:
            self._upkeep.soil()
            self._look_at_board()
        if self._news:
            self._spread_news(speaker)
        told: dict[Tongue, bytes] = {}
        for member in self.members.values():
            if member.part is not Part.SCREEN or member.behind or member.unshown:
                continue
            tongue = member.tongue
            frames = told.get(tongue)
            if frames is None:
                frames = told[tongue] = member.frames(shown(messages, tongue.mouth))
            if frames:
                member.offer(frames)
        if self._showings:
            self._showings.add(messages)
        messages.clear()

    def _repaint(self, speaker: Member, target: str) -> None:
        """Draw again the canvases in a component that has moved. The released page (dialect E) blanks a canvas that
        moves."""
        self._relay(speaker)
        pages = [one for one in self.members.values() if one.part is Part.SCREEN and one.dialect is Dialect.E]
        strokes = tuple(self.scene.repaint(target)) if pages else ()
        if not strokes:
            return
        frames = pages[0].line.frames(strokes)  # E expresses drawings as D does, and takes no bundles
        for page in pages:
            if not page.behind and not page.unshown:
                page.offer(frames)
        self._showings.repaint(strokes)

    def _show(self, member: Member) -> None:
        """Send the whole board, beginning with an empty one, to this screen, in its dialect."""
        self._showings.want(member, self.scene)
        self._take_turns()

    def _take_turns(self) -> None:
        if self._showings and (self._show_on is None or not self._show_on.pending):
            self._show_on = self.tell_later(0.0, ShowOn())

    def _spread_news(self, speaker: Member) -> None:
        self._tell_others(speaker, *self._news)
        self._news.clear()

    def _tell_others(self, member: Member, *said: Said) -> None:
        for other in self.members.values():
            if other is not member and other.part is not Part.SILENT:
                other.tell(*said)

    def _refuse(self, member: Member, said: Drawn, sentence: str) -> None:
        component, target = getattr(said, "component", "global"), getattr(said, "target", None)
        cleared = self._cleared.refusal(component, target or "")
        if cleared is None:
            self._tell_wrong(member, Fault(component, target or "", sentence))
        elif cleared:
            self._wrong.append(Fault(component, target or "", cleared))

    def _tell_wrong(self, member: Member, fault: Fault) -> None:
        """Tell the peer what was wrong, and our own pages, which show the fault at the component that it concerns. All
        faults are sent together when the turn ends: a mistake in a loop makes many of them, and one send for each fault
        and page would delay all peers for seconds."""
        self._wrong.append(fault)
        if member.part is Part.HERO:
            self._relayed.append(Fault(fault.component, fault.src, fault.message, encode(fault)))

    def _announce(self, peer_id: str, role: Any, status: Any, version: str) -> Announce:
        said = Announce(peer_id, role, status, version, int(self._wall() * 1000))
        return replace(said, raw=encode(said))


def _owner(member: Member) -> str:
    """The owner of the components that this peer spawns. It is the same after the peer has come back."""
    return member.announce.peer_id if member.announce is not None else member.ref.path
