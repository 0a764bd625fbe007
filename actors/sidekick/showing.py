"""Shows the board to a screen that comes late: in pieces, so that a large board delays nobody else.

    WAITING --the board is looked at--> BEING SHOWN --all of it is encoded--> SHOWN

Rules
  - A screen is shown the board of one moment, and then, in order, all messages relayed since. All of it is offered at
    once, so a screen has nothing or the whole.
  - Looking at the board takes one turn, because it only collects existing messages. Encoding takes one turn for each
    piece. Each offer, which may be megabytes, is a turn of its own.
  - Screens that wait at the same time for the same messages share one showing. A screen that comes while such a showing
    is under way waits for the next.
  - A small board is shown at once.
  - A piece is measured in work: a message counts by its bytes, and by whether it has to be translated. So no turn takes
    longer than it takes to encode a piece and one message.
  - A showing ends, however fast the scripts draw: messages that are appended to it pay for themselves. As much work is
    done in the same turn, so the work that is left never grows.
  - A screen whose connection has ended is shown nothing more.
"""

from collections import deque
from collections.abc import Collection, Iterator

from actors.sidekick.member import Member, Tongue
from actors.sidekick.scene import Drawn, Scene
from codec.sidekick import Bad, ClearAll, Dialect, Ear, Fault, Mouth, Said, encode

SMALL = 128 * 1024
"""A board is small up to this memory, as the scene counts it: some hundreds of messages."""
PIECE = 1_000
"""How much work is done in a turn: as much as it takes to encode so many short messages, if all of them can be sent as
they are."""
CLOSELY = 20
"""A short message that has to be read and translated for another dialect is this many times as much work."""
KEPT, TRANSLATED = 512, 64
"""In how many more bytes of a message there is as much work as in a short one that is sent as it is."""

Relayed = Drawn | Fault


class Showing:
    """A board that is being encoded for some screens."""

    def __init__(self, screens: list[Member], scene: Scene) -> None:
        self.screens = screens
        self.tongue = screens[0].tongue
        self.mouth = self.tongue.mouth
        self._in_frames = screens[0].line.frames
        self._ear = Ear(Dialect.D)
        self._left: deque[bytes | Relayed] = deque((encode(ClearAll()), *scene.replay()))
        self._credit = 0
        """How much work may still be done. Less than none: the last message was longer than what was left for it."""
        self._frames: list[bytes] = []

    def add(self, messages: Collection[bytes | Relayed]) -> None:
        """Append messages that are being relayed now. They come after the board, and pay for as much work as they
        make."""
        self._left.extend(messages)
        self._encode(self._credit + sum(_work(raw, self.mouth.keeps(raw)) for raw in map(_raw, messages)))

    def go_on(self, most: int) -> None:
        """Encode the next piece; or, if everything is encoded, offer all of it to the next screen."""
        if self._left:
            self._encode(max(0, self._credit) + most)
            return
        frames = b"".join(self._frames)
        self._frames = [frames]
        member = self.screens.pop()
        member.unshown = False
        if member.behind:
            member.restart(frames)
        elif frames:
            member.offer(frames)

    def _encode(self, credit: int) -> None:
        try:
            self._credit = self._put_into_words(credit)
        except Exception as error:
            while self.screens:
                self.screens.pop().fail(error)

    def _put_into_words(self, credit: int) -> int:
        """Encode messages until the credit is used up. Returns the rest of it: none if nothing is left to encode."""
        left, mouth = self._left, self.mouth
        told: list[bytes] = []
        while left and credit > 0:
            one = left.popleft()
            raw = _raw(one)
            is_kept = mouth.keeps(raw)
            credit -= _work(raw, is_kept)
            if is_kept and raw is one:
                told.append(raw)
            else:
                told += mouth.say_all(_heard(self._ear, one))
        if told:
            self._frames.append(self._in_frames(told))
        return credit if left else 0


class Showings:
    """All showings of a room."""

    def __init__(self, small: int = SMALL, piece: int = PIECE) -> None:
        self._small = small
        self._piece = piece
        self._waiting: list[Member] = []
        self._under_way: deque[Showing] = deque()

    def __bool__(self) -> bool:
        return bool(self._waiting or self._under_way)

    def want(self, member: Member, scene: Scene) -> None:
        """This screen needs the whole board. A small board is shown at once."""
        if member.unshown:
            return
        member.unshown = True
        if scene.memory <= self._small:
            showing = Showing([member], scene)
            while showing.screens:
                showing.go_on(self._piece)
        else:
            self._waiting.append(member)

    def add(self, messages: Collection[Relayed]) -> None:
        for showing in self._under_way:
            showing.add(shown(messages, showing.mouth))
        self._drop_those_without_screens()

    def repaint(self, strokes: Collection[bytes]) -> None:
        """Append strokes that only the released page (dialect E) is sent."""
        for showing in self._under_way:
            if showing.mouth.dialect is Dialect.E:
                showing.add(strokes)
        self._drop_those_without_screens()

    def go_on(self, scene: Scene) -> None:
        """One turn: the next piece of one showing."""
        under_way = self._under_way
        if self._waiting:
            self._look_at(scene)
        if under_way:
            showing = under_way.popleft()
            showing.go_on(self._piece)
            if showing.screens:
                under_way.append(showing)

    def leave(self, member: Member) -> None:
        for screens in (self._waiting, *(showing.screens for showing in self._under_way)):
            if member in screens:
                screens.remove(member)
        self._drop_those_without_screens()

    def _drop_those_without_screens(self) -> None:
        """Their screens have left, or an ear or a mouth has failed."""
        if not all(showing.screens for showing in self._under_way):
            self._under_way = deque(showing for showing in self._under_way if showing.screens)

    def _look_at(self, scene: Scene) -> None:
        """Begin a showing for the waiting screens. A screen goes on waiting while a showing with its tongue is under
        way."""
        busy = {showing.tongue for showing in self._under_way}
        ready: dict[Tongue, list[Member]] = {}
        for member in self._waiting:
            if member.tongue not in busy:
                ready.setdefault(member.tongue, []).append(member)
        self._waiting = [member for member in self._waiting if member.tongue in busy]
        self._under_way.extend(Showing(screens, scene) for screens in ready.values())


def shown(messages: Collection[Relayed], mouth: Mouth) -> Collection[Relayed]:
    """The messages for screens of this dialect, out of all that are relayed: only our own board shows faults."""
    return messages if mouth.dialect is Dialect.D else [one for one in messages if type(one) is not Fault]


def _raw(one: bytes | Relayed) -> bytes:
    return one if isinstance(one, bytes) else one.raw


def _work(raw: bytes, is_kept: bool) -> int:
    return 1 + len(raw) // KEPT if is_kept else CLOSELY + len(raw) // TRANSLATED


def _heard(ear: Ear, one: bytes | Relayed) -> Iterator[Said]:
    if not isinstance(one, bytes):
        yield one
        return
    heard = ear.hear(one)
    for said in heard if isinstance(heard, list) else (heard,):
        if not isinstance(said, Bad):  # a Bad: nested so deeply that the stack has no room to read it again
            yield said
