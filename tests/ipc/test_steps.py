"""Both ends' steps over a simulated folder and two journals: whatever the order of their steps, of crashes and of a
foreign peer's faults, every request ends, after three attempts at most."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.ipc import client_steps as client
from actors.ipc import server_steps as server
from actors.ipc.client_steps import State
from actors.ipc.server_steps import Phase
from actors.ipc.steps import OTHER, Answer, Identity, Seen, SetAside, Spoiled, Torn, Wait
from codec.ipc import Dialect, Failure, Outcome, Success

ASKED = b"what is asked"
numbers = itertools.count(1)


@dataclass
class Folder:
    """The files of one request. What is written in place is torn until it is whole."""

    fingerprint: bytes = ASKED
    request: bool = False
    response: Seen = None
    failed: Outcome | None = None
    set_aside: list[Identity] = field(default_factory=list)

    def answer(self, outcome: Outcome) -> None:
        self.response = Answer(Identity(next(numbers), 0), outcome)

    def take(self, identity: Identity) -> None:
        there = self.response
        assert isinstance(there, Answer | Spoiled)
        assert there.identity == identity, "another response than the one that was meant"
        self.response = None


class ClientEnd:
    def __init__(self, folder: Folder, dialect: Dialect) -> None:
        self.folder = folder
        self.dialect = dialect
        self.row = client.Row("r")
        self.crash()

    def crash(self) -> None:
        self.published, self.overdue, self.recorded, self.cleared = 0, False, False, False

    def step(self) -> bool:
        """False: there is nothing to do."""
        folder = self.folder
        view = client.View(folder.request, folder.response, self.published, self.overdue, self.recorded, self.cleared)
        match client.next_step(self.row, view, self.dialect):
            case client.Journal(row):
                if row.attempt != self.row.attempt or row.state is not self.row.state:
                    self.overdue = False
                self.row = row
            case client.Publish():
                folder.request = True
                self.published, self.cleared = self.row.attempt, False
            case client.TakeAway(identity):
                folder.take(identity)
                self.cleared = self.dialect is Dialect.HEAD and folder.request
            case SetAside(identity):
                folder.take(identity)
                folder.set_aside.append(identity)
                self.cleared = True
            case client.Record():
                folder.failed = self.row.failures[-1]
                self.recorded = True
            case Wait() | client.Over():
                return False
        return True


class OurServer:
    def __init__(self, folder: Folder, outcomes: Callable[[], Outcome]) -> None:
        self.folder = folder
        self.outcomes = outcomes
        self.row: server.Row | None = None
        self.runs = 0
        self.given: list[Outcome] = []
        self.crash()

    def crash(self) -> None:
        self.may_run, self.running, self.written = False, False, False
        self.ended: Outcome | None = None

    def end(self) -> bool:
        """Its run ends, if there is one."""
        was, self.running = self.running, False
        if was:
            self.ended = self.outcomes()
        return was

    def step(self) -> bool:
        folder = self.folder
        request = server.Wanted(folder.fingerprint) if folder.request else None
        view = server.View(request, folder.response, self.may_run, self.running, self.ended, self.written)
        match server.next_step("r", self.row, view):
            case server.Journal(row):
                self.may_run = row.phase is Phase.ASKED and row.starts > 0
                if row.phase is Phase.DECIDED and self.ended is not None:
                    self.given.append(self.ended)
                self.row, self.ended, self.written = row, None, False
            case server.Forget():
                self.row = None
            case server.Run():
                assert Success not in map(type, self.given), "what was answered with success is run again"
                self.runs += 1
                self.may_run, self.running = False, True
            case server.Cancel():
                self.running = False
            case server.Write(outcome):
                assert folder.response is None
                folder.answer(outcome)
                self.written = True
            case SetAside(identity):
                folder.take(identity)
            case Wait():
                return False
        return True


class HeadServer:
    """The newest of the real peers: it writes in place, forgets what it was at, and looks at no response that is
    there, torn or not. It looks for requests when it starts and when one comes."""

    def __init__(self, folder: Folder, outcomes: Callable[[], Outcome]) -> None:
        self.folder = folder
        self.outcomes = outcomes
        self.given: list[Outcome] = []
        self.crash()

    def crash(self) -> None:
        self.doing: str | None = None
        self.outcome: Outcome = Success()

    def end(self) -> bool:
        was = self.doing == "running"
        if was:
            self.outcome, self.doing = self.outcomes(), "ended"
        return was

    def step(self) -> bool:
        folder = self.folder
        match self.doing:
            case None if folder.request and folder.response is None:
                self.doing = "running"
            case "ended":
                folder.response, self.doing = Torn(), "writing"
            case "writing":
                self.given.append(self.outcome)
                folder.answer(self.outcome)
                self.doing = "answered"
            case "answered":
                folder.request, self.doing = False, None
            case _:
                return False
        return True


EVENTS = st.sampled_from(["client", "client", "server", "server", "end", "client dies", "server dies", "overdue"])
OUTCOMES = st.sampled_from([Success("done"), Failure("busy"), Failure("never", permanent=True)])


ANSWERED = [*["server"] * 3, "end", *["server"] * 3]
ANSWERED_TWICE = ["client", "client", *ANSWERED, "client", "client", "server", *ANSWERED, "client dies", "client"]
"""The second answer is there before the client has written down that it asked for it."""


def live(
    dialect: Dialect, events: list[str], outcomes: list[Outcome]
) -> tuple[ClientEnd, OurServer | HeadServer, Folder]:
    folder, left = Folder(), iter(outcomes)
    ours = ClientEnd(folder, dialect)
    make = OurServer if dialect is Dialect.SPEC else HeadServer
    theirs = make(folder, lambda: next(left, Failure("busy")))

    def look() -> None:
        assert ours.row.attempt <= client.MOST_ATTEMPTS
        assert len(ours.row.failures) <= client.MOST_ATTEMPTS

    for event in events:
        match event:
            case "client":
                ours.step()
            case "server":
                theirs.step()
            case "end":
                theirs.end()
            case "client dies":
                ours.crash()
            case "server dies":
                theirs.crash()
            case "overdue":
                ours.overdue = True
        look()
    for _ in range(400):  # from here on nobody dies any more, and time passes when nobody has anything to do
        moved = [ours.step(), theirs.step(), theirs.end()]
        look()
        if ours.row.is_over and not any(moved):
            return ours, theirs, folder
        if not any(moved):
            if isinstance(folder.response, Torn):
                folder.response = Spoiled(Identity(next(numbers), 0), "it is not JSON")
            else:
                ours.overdue = True
    raise AssertionError((ours.row, folder))


@given(st.sampled_from([Dialect.SPEC, Dialect.HEAD]), st.lists(EVENTS, max_size=60), st.lists(OUTCOMES, max_size=6))
@settings(max_examples=400)
@example(Dialect.SPEC, [], [Failure("busy"), Failure("busy"), Success("done")])
@example(Dialect.SPEC, ANSWERED_TWICE, [Failure("busy"), Success("done")])
@example(Dialect.HEAD, ["client", "client", "server", "end", "server", "server dies"], [Success("done")])
def test_every_request_ends_after_three_attempts_at_most_whatever_happens_meanwhile(
    dialect: Dialect, events: list[str], outcomes: list[Outcome]
) -> None:
    ours, theirs, folder = live(dialect, events, outcomes)
    row = ours.row
    if row.state is State.SUCCESS:
        assert row.success in theirs.given
        assert folder.failed is None
    else:
        last = row.failures[-1]
        assert len(row.failures) == client.MOST_ATTEMPTS or last.permanent
        assert folder.failed == last
        known = [*theirs.given, Failure(client.OVERDUE), Failure(server.POISON, permanent=True)]
        told = [failure for failure in row.failures if not failure.message.startswith(client.UNREADABLE)]
        assert all(failure in known for failure in told)
    assert not isinstance(folder.response, Spoiled)


@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
@pytest.mark.parametrize("dies", [False, True])
def test_a_peer_that_answers_nothing_but_nonsense_is_asked_three_times(dialect: Dialect, dies: bool) -> None:
    """Also by a client end that dies after each step but the last."""
    folder = Folder()
    ours = ClientEnd(folder, dialect)
    asked = 0
    for _ in range(200):
        if not ours.step() and ours.row.is_over:
            break
        if dies and not ours.recorded:
            ours.crash()
        if folder.request and folder.response is None and ours.row.state is State.POLLING and asked < ours.row.attempt:
            asked += 1
            folder.request = dialect is Dialect.SPEC
            folder.response = Spoiled(Identity(next(numbers), 0), "it is not JSON")
    assert asked == client.MOST_ATTEMPTS
    assert ours.row.state is State.GAVE_UP
    assert ours.row.failures == (Failure(f"{client.UNREADABLE}: it is not JSON"),) * client.MOST_ATTEMPTS
    assert len(folder.set_aside) == client.MOST_ATTEMPTS
    assert folder.response is None


@given(st.lists(st.sampled_from(["client", "server", "end"]), max_size=40), st.lists(OUTCOMES, max_size=4))
def test_where_nobody_dies_and_nothing_is_late_each_attempt_is_one_run(
    events: list[str], outcomes: list[Outcome]
) -> None:
    ours, theirs, _ = live(Dialect.SPEC, events, outcomes)
    assert isinstance(theirs, OurServer)
    assert theirs.runs == ours.row.attempt


def test_the_second_answer_is_not_taken_away_in_the_place_of_the_first() -> None:
    first, second = Identity(1, 1), Identity(1, 2)
    row = client.Row("r", State.RETRYING, 1, (Failure("busy"),), read=first)
    answered = client.View(request=True, response=Answer(second, Success()))
    assert client.next_step(row, answered) == client.Journal(replace(row, state=State.POLLING, attempt=2, read=None))
    assert client.next_step(row, replace(answered, response=Answer(first, Failure("busy")))) == client.TakeAway(first)


def test_an_attempt_that_was_overdue_is_asked_for_anew_though_its_request_is_there() -> None:
    waiting = client.View(request=True, response=None)
    late = client.Row("r", State.POLLING, 2, (Failure(client.OVERDUE),))
    refused = client.Row("r", State.POLLING, 2, (Failure("busy"),))
    assert client.next_step(late, waiting) == client.Publish()
    assert client.next_step(late, replace(waiting, published=2)) == Wait()
    assert client.next_step(refused, waiting) == Wait()
    assert client.next_step(refused, replace(waiting, request=False)) == client.Publish()


@pytest.mark.parametrize("outcome", [Success("done"), Failure("busy"), Failure("no", permanent=True)])
def test_what_a_head_peer_has_answered_before_it_died_is_its_answer_when_the_time_is_over(outcome: Outcome) -> None:
    """It removes the request after that."""
    row, identity = client.Row("r", State.POLLING, 1), Identity(1, 1)
    left = client.View(request=True, response=Answer(identity, outcome), published=1)
    assert client.next_step(row, left, Dialect.HEAD) == Wait()
    step = client.next_step(row, replace(left, overdue=True), Dialect.HEAD)
    if isinstance(outcome, Success):
        assert step == client.Journal(replace(row, state=State.SUCCESS, success=outcome))
        return
    state = State.FAILING if outcome.permanent else State.RETRYING
    assert step == client.Journal(replace(row, state=state, failures=(outcome,), read=identity))
    again = client.Row("r", State.POLLING, 2, (outcome,))
    assert client.next_step(again, replace(left, response=None, cleared=True), Dialect.HEAD) == client.Publish()


def test_an_answer_that_comes_late_is_the_answer_until_the_next_attempt_is_asked_for() -> None:
    first, identity = client.Row("r", State.RETRYING, 1, (Failure(client.OVERDUE),)), Identity(1, 1)
    table: list[tuple[Outcome, client.Row]] = [
        (Success("yes"), replace(first, state=State.SUCCESS, success=Success("yes"))),
        (Failure("busy"), replace(first, failures=(Failure("busy"),), read=identity)),
        (Failure("no", permanent=True), client.Row("r", State.FAILING, 1, (Failure("no", permanent=True),), identity)),
    ]
    for outcome, row in table:
        late = client.View(request=True, response=Answer(identity, outcome))
        assert client.next_step(first, late) == client.Journal(row)
        assert client.next_step(first, late, Dialect.HEAD) == client.Journal(
            replace(first, state=State.POLLING, attempt=2)
        )


@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
def test_what_a_peer_left_torn_is_an_attempt_and_is_cleared_and_the_request_renamed_anew(dialect: Dialect) -> None:
    def step(row: client.Row, view: client.View) -> client.Step:
        return client.next_step(row, view, dialect)

    left = client.View(request=True, response=Spoiled(Identity(1, 1), "it is not JSON"), published=1)
    row = client.Row("r", State.POLLING, 1)
    failed = client.Row("r", State.RETRYING, 1, (Failure(f"{client.UNREADABLE}: it is not JSON"),), Identity(1, 1))
    assert step(row, left) == client.Journal(failed)
    assert step(failed, left) == SetAside(Identity(1, 1), "it is not JSON")
    again = replace(failed, state=State.POLLING, attempt=2, read=None)
    cleared = replace(left, response=None)
    assert step(failed, cleared) == client.Journal(again)
    assert step(again, cleared) == client.Publish()
    assert step(again, replace(cleared, published=2)) == Wait()
    last = replace(failed, state=State.FAILING, attempt=3)
    assert step(last, left) == SetAside(Identity(1, 1), "it is not JSON")
    assert step(last, cleared) == client.Record()


@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
def test_what_is_completed_while_the_next_attempt_rests_is_its_answer(dialect: Dialect) -> None:
    """A peer that writes in place may have rested longer than we wait for the rest of a torn response."""
    failed = client.Row("r", State.RETRYING, 1, (Failure(f"{client.UNREADABLE}: torn"),), Identity(1, 1))
    whole = client.View(request=False, response=Answer(Identity(1, 2), Success("done")))
    again = replace(failed, state=State.POLLING, attempt=2, read=None)
    assert client.next_step(failed, whole, dialect) == client.Journal(again)
    over = replace(again, state=State.SUCCESS, success=Success("done"))
    assert client.next_step(again, whole, dialect) == client.Journal(over)


@pytest.mark.parametrize("state", [State.NEW, State.RETRYING])
def test_what_stands_in_the_way_while_nothing_was_asked_for_is_set_aside_and_no_attempt(state: State) -> None:
    row = client.Row("r", state, 1, (Failure(client.OVERDUE),)) if state is State.RETRYING else client.Row("r")
    there = client.View(request=True, response=Spoiled(Identity(1, 1), "it is a folder"))
    assert client.next_step(row, there) == SetAside(Identity(1, 1), "it is a folder")
    cleared = replace(row, state=State.POLLING, attempt=row.attempt + 1)
    assert client.next_step(row, replace(there, response=None)) == client.Journal(cleared)
    assert client.next_step(cleared, replace(there, response=None, cleared=True)) == client.Publish()


def test_what_kills_the_server_is_begun_three_times_and_then_answered() -> None:
    folder = Folder(request=True)
    ours = OurServer(folder, lambda: Success())
    for _ in range(20):
        while ours.step():
            pass
        ours.crash()
    assert ours.runs == server.MOST_STARTS
    assert isinstance(folder.response, Answer)
    assert folder.response.outcome == Failure(server.POISON, permanent=True)


def test_a_success_that_is_taken_away_is_not_run_again_and_an_error_is() -> None:
    for outcome, runs in ((Success(), 1), (Failure("busy"), 2)):
        folder = Folder(request=True)
        ours = OurServer(folder, lambda outcome=outcome: outcome)  # type: ignore[misc]
        for _ in range(3):
            while ours.step():
                pass
            ours.end()
        folder.response = None
        ours.given.clear()
        while ours.step():
            pass
        assert ours.runs == runs


def test_another_request_under_the_same_id_is_run_and_the_old_answer_set_aside() -> None:
    old = Answer(Identity(1, 1), Success("old"))
    row = server.Row("r", b"old", Phase.ANSWERED, outcome=Success("old"))
    asked = server.View(server.Wanted(b"new"), old)
    assert server.next_step("r", row, asked) == SetAside(old.identity, OTHER)
    assert server.next_step("r", row, replace(asked, running=True)) == server.Cancel()
    assert server.next_step("r", row, replace(asked, response=None)) == server.Journal(server.Row("r", b"new"))


def test_an_answer_that_was_there_before_us_is_an_answer() -> None:
    there = Answer(Identity(1, 1), Success("theirs"))
    step = server.next_step("r", None, server.View(server.Wanted(ASKED), there))
    assert step == server.Journal(server.Row("r", ASKED, Phase.ANSWERED, outcome=Success("theirs"), found=True))
    begun = server.next_step("r", server.Row("r", ASKED, starts=1), server.View(server.Wanted(ASKED), there))
    assert begun == server.Journal(server.Row("r", ASKED, Phase.ANSWERED, 1, Success("theirs")))


def test_a_request_that_cannot_be_read_is_answered_with_the_reason_and_not_tried_again() -> None:
    row, view = server.Row("r", b"?"), server.View(server.Unreadable(b"?", "it is not JSON"), None)
    decided = server.next_step("r", row, view)
    assert isinstance(decided, server.Journal)
    assert server.next_step("r", decided.row, view) == server.Write(Failure("it is not JSON", permanent=True))


def test_a_request_that_is_taken_away_is_cancelled_and_forgotten() -> None:
    row = server.Row("r", ASKED, starts=1)
    assert server.next_step("r", row, server.View(None, None, running=True)) == server.Cancel()
    assert server.next_step("r", row, server.View(None, None)) == server.Forget()
    assert server.next_step("r", None, server.View(None, None)) == Wait()
