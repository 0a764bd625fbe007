"""The numbers of a session: what is sent, what is kept, and what a kill may take. And what is held for one client."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from actors.agent.holding import MOST_ANSWERS, MOST_ENTRIES, Holding
from actors.agent.messages import LogEntry, ShowState
from actors.agent.outflow import BLOCK, Outflow, Portion
from codec.agent.events import ServerPong, SessionState, Thinking, Token


class Numbers(RuleBasedStateMachine):
    """A session's numbers beside what a store and clients know of them, over kills."""

    def __init__(self) -> None:
        super().__init__()
        self.flow = Outflow(0)
        self.stored: list[LogEntry] = []
        self.reserved = 0
        """As the store has it."""
        self.seen: dict[int, LogEntry] = {}
        self.running = False
        self.portion: Portion | None = None

    def _add(self, event: Token | Thinking) -> None:
        self.flow.add(LogEntry(self.flow.next, event, b"x"))
        self._send()

    def _send(self) -> None:
        for entry in self.flow.to_send():
            assert entry.seq not in self.seen, "a number is given again"
            assert not self.seen or entry.seq > max(self.seen)
            assert type(entry.event) is Token or entry in self.stored, "it is kept before it is sent"
            self.seen[entry.seq] = entry

    @rule(count=st.sampled_from((1, 3, 400, 1200)))
    def tokens(self, count: int) -> None:
        for _ in range(count):
            self._add(Token(token="t"))

    @rule()
    def event(self) -> None:
        self._add(Thinking(phase="planning", message="m"))

    @rule()
    def turn_begins_or_ends(self) -> None:
        self.running = not self.running

    @precondition(lambda self: self.portion is None)
    @rule()
    def commit_begins(self) -> None:
        self.portion = self.flow.portion(running=self.running)

    @precondition(lambda self: self.portion is not None)
    @rule(told=st.booleans())
    def commit_is_done(self, told: bool) -> None:
        """`told`: whether the session learns of it before a kill."""
        assert self.portion is not None
        self.stored.extend(self.portion.entries)
        self.reserved = self.portion.reserved
        self.portion = None
        if told:
            self.flow.done()
            self._send()
        else:
            self.kill()

    @rule()
    def kill(self) -> None:
        last = max(self.reserved, self.stored[-1].seq if self.stored else 0)
        assert not self.seen or last >= max(self.seen), "what a client has seen is kept, or its number is reserved"
        self.flow, self.portion, self.running = Outflow(last), None, False

    @invariant()
    def nothing_is_sent_that_was_not_given_and_nothing_kept_that_was_not_sent(self) -> None:
        flow = self.flow
        assert flow.last >= flow.sent >= flow.kept
        assert all(entry.seq > flow.kept for entry in flow.tail)
        assert [entry.seq for entry in self.stored] == sorted({entry.seq for entry in self.stored})

    @invariant()
    def a_client_that_comes_now_misses_nothing(self) -> None:
        """Stored up to the tail, and then the tail."""
        sent = [entry for entry in self.stored if entry.seq <= self.flow.kept] + self.flow.tail
        assert [entry.seq for entry in sent] == sorted({entry.seq for entry in sent})
        lost = set(self.seen) - {entry.seq for entry in sent}
        assert all(type(self.seen[seq].event) is Token for seq in lost), "a kill takes tokens only"


TestNumbers = pytest.mark.slow(Numbers.TestCase)


def test_while_no_turn_runs_a_kill_leaves_no_hole() -> None:
    flow = Outflow(0)
    flow.add(LogEntry(1, Thinking(phase="planning", message="m")))
    assert flow.portion(running=True).reserved == 1 + BLOCK
    flow.done()
    flow.add(LogEntry(2, Token(token="t")))
    assert flow.portion(running=False).reserved == 2
    assert flow.reserved == 2, "at once, for the store may have it already"


held = st.one_of(
    st.just("event"), st.just("event"), st.just("state"), st.just("answer"), st.just("take"), st.just("again")
)


@given(st.lists(held, max_size=200), st.integers(1, 4000))
def test_what_is_held_for_a_client_has_its_order_and_a_bound(acts: list[str], size: int) -> None:
    holding = Holding()
    seq, taken = 0, 0
    missed = True
    for act in acts:
        match act:
            case "event":
                seq += 1
                holding.event(LogEntry(seq, Token(token="t"), b"x" * size * 100))
                missed = missed or holding.behind
            case "state":
                holding.state(ShowState(SessionState(clients=seq), seq))
            case "answer":
                holding.answer(ServerPong())
            case "again":
                if holding.behind:
                    holding.begin_again()
                    missed, taken = False, seq
            case "take":
                items = holding.take()
                entries = [item.seq for item in items if isinstance(item, LogEntry)]
                if entries:
                    assert entries == list(range(taken + 1, entries[-1] + 1)), "without a gap from where it began"
                    taken = entries[-1]
                states = [item.last_seq for item in items if isinstance(item, ShowState)]
                assert states == sorted(states)
        assert len(holding) <= MOST_ENTRIES + MOST_ANSWERS + len(acts)
        assert holding.behind or not missed


def test_one_that_falls_behind_keeps_its_answers_and_the_newest_state() -> None:
    holding = Holding()
    holding.begin_again()
    for number in range(MOST_ENTRIES):
        holding.event(LogEntry(number + 1, Token(token="t")))
        if number % 1000 == 0:
            holding.state(ShowState(SessionState(clients=number), number))
    holding.answer(ServerPong(timestamp=1))
    assert not holding.behind
    holding.event(LogEntry(MOST_ENTRIES + 1, Token(token="t")))
    assert holding.behind
    assert holding.take() == [ServerPong(timestamp=1), ShowState(SessionState(clients=4000), 4000)]


def test_answers_are_bounded_too() -> None:
    holding = Holding()
    for _ in range(10 * MOST_ANSWERS):
        holding.answer(ServerPong())
    assert len(holding) == MOST_ANSWERS
