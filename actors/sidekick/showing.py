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
  - A screen whose connection has ended is shown nothing more.
"""

from collections import deque
from collections.abc import Collection, Iterator

from actors.sidekick.member import Member
from actors.sidekick.scene import Scene
from codec.sidekick import Bad, ClearAll, Dialect, Ear, Fault, Mouth, Said, encode

SMALL = 128 * 1024
"""A board is small up to this memory, as the scene counts it: some hundreds of messages."""
PIECE = 1_000
"""How many messages are encoded in a turn, if all of them can be sent as they are."""
CLOSELY = 20
"""A message that has to be read and translated for another dialect takes this many times as long."""


class Showing:
    """A board that is being encoded for some screens."""

    def __init__(self, screens: list[Member], scene: Scene) -> None:
        self.screens = screens
        self.mouth = screens[0].mouth
        self._frame = screens[0].line.frame
        self._ear = Ear(Dialect.D)
        self._left: deque[bytes | Said] = deque((encode(ClearAll()), *scene.replay()))
        self._frames: list[bytes] = []

    def add(self, messages: Collection[Said]) -> None:
        """Append messages that are being relayed now. They come after the board."""
        self._left.extend(shown(messages, self.mouth))

    def paint(self, strokes: Collection[bytes]) -> None:
        self._left.extend(strokes)

    def go_on(self, most: int) -> None:
        """Encode the next piece; or, if everything is encoded, offer all of it to the next screen."""
        if self._left:
            try:
                self._put_into_words(most)
            except Exception as error:
                while self.screens:
                    self.screens.pop().fail(error)
            return
        frames = b"".join(self._frames)
        self._frames = [frames]
        member = self.screens.pop()
        member.unshown = False
        if member.behind:
            member.restart(frames)
        elif frames:
            member.offer(frames)

    def _put_into_words(self, most: int) -> None:
        left, mouth = self._left, self.mouth
        told: list[bytes] = []
        while left and most > 0:
            one = left.popleft()
            if type(one) is bytes and mouth.keeps(one):
                told.append(one)
                most -= 1
            else:
                told += mouth.say_all(_heard(self._ear, one))
                most -= CLOSELY
        self._frames += map(self._frame, told)


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

    def add(self, messages: Collection[Said]) -> None:
        for showing in self._under_way:
            showing.add(messages)

    def repaint(self, strokes: Collection[bytes]) -> None:
        """Append strokes that only the released page (dialect E) is sent."""
        for showing in self._under_way:
            if showing.mouth.dialect is Dialect.E:
                showing.paint(strokes)

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
        self._under_way = deque(showing for showing in self._under_way if showing.screens)

    def _look_at(self, scene: Scene) -> None:
        """Begin a showing for the waiting screens. A screen goes on waiting while a showing with its mouth is under
        way."""
        busy = {showing.mouth for showing in self._under_way}
        ready: dict[Mouth, list[Member]] = {}
        for member in self._waiting:
            if member.mouth not in busy:
                ready.setdefault(member.mouth, []).append(member)
        self._waiting = [member for member in self._waiting if member.mouth in busy]
        self._under_way.extend(Showing(screens, scene) for screens in ready.values())


def shown(messages: Collection[Said], mouth: Mouth) -> Collection[Said]:
    """The messages for screens of this dialect, out of all that are relayed: only our own board shows faults."""
    return messages if mouth.dialect is Dialect.D else [one for one in messages if type(one) is not Fault]


def _heard(ear: Ear, one: bytes | Said) -> Iterator[Said]:
    if not isinstance(one, bytes):
        yield one
        return
    heard = ear.hear(one)
    for said in heard if isinstance(heard, list) else (heard,):
        if not isinstance(said, Bad):  # a Bad: nested so deeply that the stack has no room to read it again
            yield said
