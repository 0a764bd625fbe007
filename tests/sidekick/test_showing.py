"""A board that is shown in pieces, while it changes: what a late screen sees is what an early one sees."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.sidekick.member import Member
from actors.sidekick.scene import Limits, Scene
from actors.sidekick.showing import CLOSELY, Showings, shown
from codec.sidekick import Dialect, Ear
from tests.sidekick.scene import stories
from tests.sidekick.scene.naive import NaiveBoard
from tests.sidekick.scene.test_laws import drawn

LIMITS = Limits(lines=5, characters=60, depth=4, buffers=2)
MODEST = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


RED = stories.update("grid-1", "setColor", {"x": 0, "y": 0, "color": "red"})


class Deaf:
    def urgent(self, message: object) -> None: ...


class Line:
    """Keeps what it was sent."""

    def __init__(self, *, takes_bundles: bool = False) -> None:
        self.takes_bundles = takes_bundles
        self.got: list[bytes] = []
        self.framed = 0
        self.hung_up = False

    def frames(self, texts: Iterable[bytes]) -> bytes:
        told = [*texts]
        self.framed += len(told)
        if self.takes_bundles:
            return b"[%b]\n" % b",".join(told) if told else b""
        return b"".join(text + b"\n" for text in told)

    def offer(self, frames: bytes) -> bool:
        for line in frames.splitlines():
            if self.takes_bundles:
                self.got += map(bytes, msgspec.json.decode(line, type=list[msgspec.Raw]))
            else:
                self.got.append(line)
        return True

    restart = offer

    def on_drained(self, call: Callable[[], None]) -> None: ...

    def hang_up(self, code: int, reason: str) -> None:
        self.hung_up = True


def screen(dialect: Dialect = Dialect.D, *, takes_bundles: bool = False) -> tuple[Member, Line]:
    line = Line(takes_bundles=takes_bundles)
    ref: Any = object()
    member = Member(ref, line)
    member.looks()
    member.ear = Ear(dialect)
    return member, line


class Audience:
    """A scene, the screens that see it, and what a room does with them."""

    def __init__(self, piece: int) -> None:
        self.scene = Scene(LIMITS)
        self.showings = Showings(small=0, piece=piece)
        self.seats: list[tuple[Member, Line]] = []

    def come(self, dialect: Dialect, *, takes_bundles: bool = False) -> Line:
        member, line = screen(dialect, takes_bundles=takes_bundles)
        self.seats.append((member, line))
        self.showings.want(member, self.scene)
        return line

    def leave(self, number: int) -> None:
        member, _ = self.seats.pop(number % len(self.seats))
        self.showings.leave(member)

    def say(self, frames: list[bytes]) -> None:
        relayed = [said for said in drawn(frames) if self.scene.fold(said) is None]
        for member, _ in self.seats:
            if not member.unshown:
                member.offer(member.frames(shown(relayed, member.mouth)))
        self.showings.add(relayed)

    def turn(self) -> None:
        self.showings.go_on(self.scene)

    def end(self) -> None:
        while self.showings:
            self.turn()


def picture(line: Line, dialect: Dialect) -> Any:
    ear = Ear(dialect)
    told = [said for one in line.got for said in _each(ear.hear(one))]
    return NaiveBoard(LIMITS).show(*(said.raw for said in told)).picture()


def _each(heard: Any) -> list[Any]:
    return heard if isinstance(heard, list) else [heard]


EVENTS = st.one_of(
    st.tuples(st.just("say"), st.lists(stories.anything, max_size=4)),
    st.tuples(st.just("come"), st.sampled_from(((Dialect.D, True), (Dialect.D, False), (Dialect.E, False)))),
    st.tuples(st.just("turn"), st.integers(1, 4)),
    st.tuples(st.just("leave"), st.integers(0, 9)),
)


@pytest.mark.slow
@MODEST
@given(before=stories.stories(), events=st.lists(EVENTS, max_size=30), piece=st.integers(1, 30))
def test_a_screen_that_came_at_any_moment_sees_in_the_end_what_the_first_one_sees(
    before: list[bytes], events: list[tuple[str, Any]], piece: int
) -> None:
    audience = Audience(piece)
    first = audience.come(Dialect.D)
    audience.end()
    audience.say(before)
    for what, how in events:
        match what:
            case "say":
                audience.say(how)
            case "come":
                audience.come(how[0], takes_bundles=how[1])
            case "turn":
                for _ in range(how):
                    audience.showings.go_on(audience.scene)
            case "leave" if len(audience.seats) > 1:
                audience.leave(1 + how % (len(audience.seats) - 1))
    audience.end()
    seen = picture(first, Dialect.D)
    for member, line in audience.seats:
        assert not member.unshown
        assert picture(line, member.dialect) == seen


@pytest.mark.slow
@MODEST
@given(story=stories.stories(), dialect=st.sampled_from(list(Dialect)), piece=st.integers(1, 30))
def test_a_board_in_pieces_is_the_board_at_once(story: list[bytes], dialect: Dialect, piece: int) -> None:
    lines = []
    for small, size in ((0, piece), (10**9, 1_000)):
        scene, showings = Scene(LIMITS), Showings(small, size)
        for said in drawn(story):
            scene.fold(said)
        member, line = screen(dialect)
        showings.want(member, scene)
        assert not (small and showings)
        while showings:
            showings.go_on(scene)
        lines.append(line.got)
    assert lines[0] == lines[1]
    assert lines[0] or dialect is Dialect.A, "all but the first can be told that the board is empty"


@pytest.mark.parametrize("dialect", [Dialect.D, Dialect.E])
def test_screens_that_come_together_and_are_told_the_same_are_shown_one_piece_of_words(dialect: Dialect) -> None:
    audience = Audience(piece=10)
    audience.say([stories.spawn("grid-1"), *[stories.spawn(f"label-{number}") for number in range(100)]])
    for _ in range(40):
        audience.come(dialect)
    turns = 0
    while audience.showings:
        audience.showings.go_on(audience.scene)
        turns += 1
    assert turns <= 102 / 10 + 1 + 40, "a turn for each ten messages, and one for each screen"
    assert len({tuple(line.got) for _, line in audience.seats}) == 1


@pytest.mark.parametrize("dialect", list(Dialect))
@pytest.mark.parametrize("drawn_in_a_turn", [0, 1, 5, 200])
def test_a_showing_takes_as_many_turns_however_much_is_drawn_meanwhile(dialect: Dialect, drawn_in_a_turn: int) -> None:
    audience, piece, grids = Audience(piece=100), 100 // CLOSELY, 30
    audience.say([stories.spawn(f"grid-{number}") for number in range(grids)])
    line = audience.come(dialect)
    turns = 0
    while audience.showings:
        turns += 1
        assert turns <= (1 + grids) / piece + 1 + 1, "a turn for each piece, and the offer"
        audience.showings.go_on(audience.scene)
        audience.say([RED] * drawn_in_a_turn)
    assert line.got or dialect is Dialect.A


@pytest.mark.parametrize("dialect", [Dialect.C, Dialect.D, Dialect.E])
@pytest.mark.parametrize("longer", [0, 100_000])
def test_no_turn_does_more_work_than_a_piece_or_than_is_relayed_in_it(dialect: Dialect, longer: int) -> None:
    audience, piece, many, more = Audience(piece=100), 100, 200, {"more": "x" * longer}
    audience.say([stories.spawn(f"grid-{number}", **more) for number in range(1_000, 1_100 if longer else 2_000)])
    lines = [audience.come(dialect) for _ in range(3)]
    audience.showings.go_on(audience.scene)

    def flood() -> None:
        audience.say([RED] * many)

    for turn, most in [(flood, many)] * 4 + [(audience.turn, piece)] * 4:
        before = [line.framed for line in lines]
        turn()
        for line, was in zip(lines, before, strict=True):
            assert line.framed - was <= (5 if longer else most)
    assert not any(line.got for line in lines)


def test_a_mouth_that_fails_at_what_is_drawn_meanwhile_ends_its_own_screens_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    audience = Audience(piece=1)
    audience.say([stories.spawn("grid-1")])
    broken, sound = audience.come(Dialect.C), audience.come(Dialect.D)
    audience.showings.go_on(audience.scene)
    (member, _), _ = audience.seats

    def fails(messages: object) -> None:
        raise ValueError("a mistake in our code")

    monkeypatch.setattr(member.mouth, "say_all", fails)
    monkeypatch.setattr(member, "ref", Deaf())
    audience.say([RED])
    audience.end()
    assert broken.hung_up
    assert not sound.hung_up
    assert sound.got


def test_a_screen_that_asks_while_it_is_shown_the_board_is_not_shown_it_again_for_that() -> None:
    audience = Audience(piece=1)
    audience.say([stories.spawn("grid-1")])
    line = audience.come(Dialect.D)
    for _ in range(9):  # clearing, the grid, and the offer: three turns each time
        audience.showings.want(audience.seats[0][0], audience.scene)
        audience.showings.go_on(audience.scene)
    assert sum(b"clearAll" in one for one in line.got) == 3
    assert not audience.showings


def test_screens_told_otherwise_have_a_mouth_each() -> None:
    (one, _), (other, _) = screen(Dialect.C), screen(Dialect.C)
    assert one.mouth is not other.mouth
    (one, _), (other, _) = screen(Dialect.E), screen(Dialect.E)
    assert one.mouth is other.mouth


@pytest.mark.parametrize(("spare", "at_once"), [(0, True), (-1, False)])
def test_a_board_that_is_small_is_shown_at_once_and_a_larger_one_in_its_turn(spare: int, at_once: bool) -> None:
    scene = Scene(LIMITS)
    for said in drawn([stories.spawn("label-1")]):
        scene.fold(said)
    showings = Showings(small=scene.memory + spare)
    member, line = screen()
    showings.want(member, scene)
    assert bool(line.got) == at_once
    assert member.unshown != at_once
    assert bool(showings) != at_once
