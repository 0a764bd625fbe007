"""A room: the heroes and the screens that see the same board.

Rules
  - The server is a sidekick itself: a hero is answered at once, browser or not, and never slowed by one.
  - What is relayed was folded into the scene first; what the scene refuses is not relayed, and whoever said it is told
    why, in his own words.
  - What a screen has been shown is what the scene says, sooner or later: a newcomer, and one that fell behind, is shown
    the whole scene, then what changes.
  - A peer that goes without a word is announced offline, once. A hero that comes back within `GRACE` seconds finds its
    board: the clearAll that every client then sends and none means is not heard, if it comes in that time too.
  - A hero's clearAll clears what is its own and what nobody owns any more; never what another hero that is online drew.
  - An event goes to the hero that drew what it happened to, or to all heroes when that is not known.

Everything here is synchronous: a batch is heard, folded and offered to every screen within one turn, and the lines keep
what cannot be sent at once.
"""

from collections.abc import Callable, Iterable
from typing import Any

import trio
from msgspec.structs import replace

from actors.kernel import Actor, ActorRef, Down, Timer
from actors.sidekick.member import Member, Part
from actors.sidekick.messages import Drained, Forsaken, GraceOver, Heard, Joined, RoomMessage
from actors.sidekick.scene import Drawn, Limits, Reserve, Scene
from actors.sidekick.vacancies import Vacancies
from codec.sidekick import (
    Announce,
    Bad,
    ClearAll,
    Dialect,
    Ear,
    Event,
    Fault,
    Other,
    Said,
    Update,
    encode,
)

GRACE = 30.0
FORSAKEN_AFTER = 600.0
MOST_MEMBERS = 512
FULL = 1013
LONGEST_FEEDBACK = 1_000_000
"""Bytes of an event or an error. A released client (0.0.7) takes 1 MiB, and hangs up at more."""


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
        """`lasting`: it stays when nobody is there. `reserve`: the memory that all rooms share; `vacancies`: who of
        them gives way when that, or their number, is used up."""
        self.name = name
        self._version = version
        self._wall = wall
        self._lasting = lasting
        self._vacancies = vacancies if vacancies is not None else Vacancies()
        self.scene = Scene(limits, reserve)
        self.members: dict[ActorRef[Any], Member] = {}
        self._away: dict[str, Timer | None] = {}  # heroes that lost their connection, by peerId
        self._relayed: list[Drawn | Fault] = []  # heard and folded, or refused, not yet offered to the screens
        self._news: list[Announce] = []  # not yet told to all but whom is being heard; what is relayed comes after it
        self._wrong: list[Fault] = []  # not yet told to whom is being heard
        self._wants_to_see = False  # who is being heard has announced itself as a screen
        self._forsaken: Timer | None = None

    async def started(self, kept: object | None) -> None:
        if isinstance(kept, tuple):
            self.scene, self.members, away = kept
            for ref in self.members:
                self.monitor(ref)
            for peer_id in away:
                self._wait_for(peer_id)
        self._look_around()

    def keep(self) -> object:
        return self.scene, self.members, list(self._away)

    def at_once(self, message: RoomMessage) -> bool:
        if not isinstance(message, Heard):
            return False
        member = self.members.get(message.peer)
        if member is not None:
            self._hear(member, message.texts)
        return True

    async def handle(self, message: RoomMessage) -> None:
        match message:
            case Heard():
                self.at_once(message)
            case Joined(peer, line):
                self._join(Member(peer, line))
            case Drained(peer):
                member = self.members.get(peer)
                if member is not None and member.behind:  # a hero has only missed what it did not read in time
                    member.restart(self._everything(member) if member.part is Part.SCREEN else b"")
            case GraceOver(peer_id):
                self._away.pop(peer_id, None)
            case Forsaken():
                if not self.members:
                    self._vacancies.leave(self.ref)
                    self.scene.empty()
                    self.finish()

    async def down(self, down: Down) -> None:
        member = self.members.pop(down.ref, None)
        if member is not None:
            self._leave(member)

    # -- coming and going

    def _join(self, member: Member) -> None:
        if len(self.members) >= MOST_MEMBERS:
            member.line.hang_up(FULL, f"this room has {MOST_MEMBERS} peers, which is all it takes")
            return
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
        member.become(Part.GONE)
        self._look_around()

    def _wait_for(self, peer_id: str) -> None:
        self._away[peer_id] = self.tell_later(GRACE, GraceOver(peer_id))

    def _look_around(self) -> None:
        self.note = f"{self._count(Part.HERO)} drawing, {self._count(Part.SCREEN)} watching"
        if self._forsaken is not None:
            self._forsaken.cancel()
            self._forsaken = None
        self._vacancies.leave(self.ref)
        if not self.members and not self._lasting:
            self._forsaken = self.tell_later(FORSAKEN_AFTER, Forsaken())
            self._vacancies.enter(self.ref, self._give_way)

    def _give_way(self) -> None:
        """At once, for it is needed now; unless somebody comes meanwhile, this is the end."""
        self.scene.empty()
        self.ref.urgent(Forsaken())

    def _count(self, part: Part) -> int:
        return sum(member.part is part for member in self.members.values())

    # -- hearing

    def _hear(self, member: Member, texts: list[bytes]) -> None:
        fold, relayed = self.scene.fold, self._relayed
        owner = _owner(member)
        for text in texts:
            for said in member.hear(text):
                if type(said) is Update and member.part is Part.HERO:  # nearly all there ever is
                    refusal = fold(said, owner)
                    if refusal is None:
                        relayed.append(said)
                        if said.action == "changeParent":
                            self._repaint(member, said.target)
                    else:
                        self._refuse(member, said, refusal)
                else:
                    self._heard(member, said)
                    owner = _owner(member)
        self._answer(member)
        self._spread_news(member)
        if self._wants_to_see:  # once for each turn: a board may be large, and an announce is short
            self._wants_to_see = False
            member.offer(self._everything(member))

    def _answer(self, member: Member) -> None:
        """Relay what has been heard of this peer, and tell it what was wrong with that."""
        self._relay(member)
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
            case ClearAll():
                self._clear(member, said)
            case _:
                self._draw(member, said)

    def _announced(self, member: Member, said: Announce) -> None:
        part = Part.HERO if said.role == "hero" else Part.SCREEN
        if member.part not in (Part.SILENT, part):
            self._tell_wrong(member, Fault("system", "", f"this peer is a {member.part.value} already"))
            return
        member.become(part)
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
        """Whether this peer was here before, on a connection that has ended, or has not yet been found to."""
        waited = self._away.pop(peer_id, None) if member.part is Part.HERO else None
        if waited is not None:
            waited.cancel()
        others = [one for one in self.members.values() if one is not member and one.part is member.part]
        lost = [one for one in others if _owner(one) == peer_id]
        for one in lost:
            one.announce = None  # its end will be nobody's
        return waited is not None or bool(lost)

    def _draw(self, member: Member, said: Drawn) -> None:
        if member.part is Part.SCREEN:
            target = getattr(said, "target", None) or ""
            self._tell_wrong(member, Fault(getattr(said, "component", "system"), target, "a sidekick does not draw"))
            return
        if member.part is Part.SILENT:  # the first dialect announces nothing and clears nothing: this is a new script
            member.become(Part.HERO)
            self._relayed.extend(self.scene.clear(ClearAll(encode(ClearAll())), self._other_owners(member)))
        refusal = self.scene.fold(said, _owner(member))
        if refusal is None:
            self._relayed.append(said)
        else:
            self._refuse(member, said, refusal)

    def _clear(self, member: Member, said: ClearAll) -> None:
        if member.part is Part.SCREEN:
            self._tell_wrong(member, Fault("global", "", "a sidekick does not clear the board"))
            return
        member.become(Part.HERO)
        absorbed = trio.current_time() < member.absorbs_clear_until
        member.absorbs_clear_until = 0.0
        if absorbed:
            return
        self._relayed.extend(self.scene.clear(said, self._other_owners(member)))

    def _other_owners(self, member: Member) -> set[str]:
        """Heroes that are here, and whose work is not this one's to clear."""
        heroes = [one for one in self.members.values() if one.part is Part.HERO]
        return {_owner(one) for one in heroes if one is not member} - {_owner(member)}

    def _from_screen(self, member: Member, said: Event | Fault | Other) -> None:
        if member.part is Part.HERO:
            self._tell_wrong(member, Fault(said.component, said.src or "", "a hero does not send events or errors"))
            return
        member.become(Part.SCREEN)
        if len(said.raw) > LONGEST_FEEDBACK:
            wrong = f"a message to a script may be {LONGEST_FEEDBACK:,} bytes long, not {len(said.raw):,}"
            self._tell_wrong(member, Fault(said.component, said.src or "", wrong))
            return
        if isinstance(said, Fault) and not self.scene.is_news(said, member.ref, self.members.keys()):
            return
        if isinstance(said, Event) and (value := self.scene.submitted(said)) is not None:
            self._relayed.append(value)
        owner = self.scene.owner(said.src or "")
        heroes = [one for one in self.members.values() if one.part is Part.HERO]
        for hero in [one for one in heroes if _owner(one) == owner] or heroes:
            hero.tell(said)

    # -- speaking

    def _relay(self, speaker: Member) -> None:
        messages = self._relayed
        if not messages:
            return
        self._spread_news(speaker)
        canonical: bytes | None = None
        for member in self.members.values():
            if member.part is not Part.SCREEN or member.behind:
                continue
            if not member.speaks_canonically:
                member.tell(*[one for one in messages if not isinstance(one, Fault)])
                continue
            if canonical is None:
                canonical = b"".join([member.line.frame(one.raw) for one in messages])
            member.offer(canonical)
        messages.clear()

    def _repaint(self, speaker: Member, target: str) -> None:
        """The released page (E) blanks a canvas that moves."""
        self._relay(speaker)
        pages = [one for one in self.members.values() if one.part is Part.SCREEN and one.dialect is Dialect.E]
        if pages:
            ear = Ear(Dialect.D)
            strokes = [said for raw in self.scene.repaint(target) for said in _each(ear.hear(raw))]
            for page in pages:
                page.tell(*strokes)

    def _everything(self, member: Member) -> bytes:
        """The whole board, on an empty one, in this screen's words."""
        if member.speaks_canonically:
            return b"".join(map(member.line.frame, (encode(ClearAll()), *self.scene.replay())))
        ear = Ear(Dialect.D)
        board = (said for raw in self.scene.replay() for said in _each(ear.hear(raw)))
        return b"".join(map(member.words, (ClearAll(), *board)))

    def _spread_news(self, speaker: Member) -> None:
        if self._news:
            self._tell_others(speaker, *self._news)
            self._news.clear()

    def _tell_others(self, member: Member, *said: Said) -> None:
        for other in self.members.values():
            if other is not member and other.part is not Part.SILENT:
                other.tell(*said)

    def _refuse(self, member: Member, said: Drawn, sentence: str) -> None:
        component, target = getattr(said, "component", "global"), getattr(said, "target", None)
        self._tell_wrong(member, Fault(component, target or "", sentence))

    def _tell_wrong(self, member: Member, fault: Fault) -> None:
        """The peer will be told, and our own board, which shows it where it happened. All at once when the turn ends:
        what is wrong is wrong in a loop, and a send for each to each page would hold everybody up for seconds."""
        self._wrong.append(fault)
        if member.part is Part.HERO:
            self._relayed.append(Fault(fault.component, fault.src, fault.message, encode(fault)))

    def _announce(self, peer_id: str, role: Any, status: Any, version: str) -> Announce:
        said = Announce(peer_id, role, status, version, int(self._wall() * 1000))
        return replace(said, raw=encode(said))


def _owner(member: Member) -> str:
    """Who owns what this peer draws: the same after it has come back."""
    return member.announce.peer_id if member.announce is not None else member.ref.path


def _each(said: Said | list[Said]) -> Iterable[Said]:
    return said if isinstance(said, list) else (said,)
