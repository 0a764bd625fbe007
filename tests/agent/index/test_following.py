"""Who follows a status is answered with the next other one, or after a while, and once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from actors.agent.index.following import MOST, Followers, TooManyFollow
from codec.agent.workspaces import IndexStatus

ONE, OTHER = (IndexStatus(workspace_id="w", generation=number) for number in (1, 2))


@dataclass(eq=False)
class PaperReply:
    """The end of a question whose asker waits, until it has its answer or has given up."""

    told: list[IndexStatus] = field(default_factory=list)
    wanted: bool = True
    cancelled: bool = False
    """The time after which it would have been answered anyway does not come any more."""
    refused: type[Exception] | None = None
    forget: Callable[[], None] = lambda: None

    def set(self, status: IndexStatus) -> None:
        assert self.wanted
        self.told.append(status)
        self.wanted = False

    def fail(self, error: Exception) -> None:
        assert self.wanted
        self.refused = type(error)
        self.wanted = False

    def on_abandon(self, call: Callable[[], None]) -> None:
        self.forget = call

    def give_up(self) -> None:
        self.wanted = False
        self.forget()

    def cancel(self) -> None:
        self.cancelled = True


def followed() -> Any:
    """Each reply is its own timer, too."""
    return Followers(lambda reply: reply)  # type: ignore[arg-type, return-value]


def test_who_has_seen_another_status_is_answered_at_once() -> None:
    followers = followed()
    for seen in (None, ONE):
        reply = PaperReply()
        followers.follow(seen, OTHER, reply)
        assert (reply.told, len(followers)) == ([OTHER], 0)


def test_who_has_seen_this_one_waits_for_the_next() -> None:
    followers = followed()
    replies = [PaperReply() for _ in range(3)]
    for reply in replies:
        followers.follow(ONE, ONE, reply)
    assert ([each.told for each in replies], len(followers)) == ([[]] * 3, 3)
    followers.over(replies[1], ONE)
    followers.over(replies[1], ONE)
    assert ([each.told for each in replies], len(followers)) == ([[], [ONE], []], 2)
    followers.show(OTHER)
    followers.show(ONE)
    assert ([each.told for each in replies], len(followers)) == ([[OTHER], [ONE], [OTHER]], 0)
    assert all(each.cancelled for each in replies)


def test_who_has_given_up_is_forgotten() -> None:
    followers = followed()
    reply, silent = PaperReply(), PaperReply()
    followers.follow(ONE, ONE, reply)
    followers.follow(ONE, ONE, silent)
    reply.give_up()
    silent.wanted = False
    assert (reply.cancelled, len(followers)) == (True, 1)
    followers.show(OTHER)
    assert (reply.told, silent.told, len(followers)) == ([], [], 0)


def test_when_too_many_follow_one_more_is_refused_and_no_other_is_answered_before_its_time() -> None:
    followers = followed()
    replies = [PaperReply() for _ in range(MOST + 2)]
    for number, reply in enumerate(replies, 1):
        followers.follow(ONE, ONE, reply)
        assert len(followers) == min(number, MOST)
    assert [each.told for each in replies] == [[]] * len(replies)
    assert [each.refused for each in replies] == [None] * MOST + [TooManyFollow] * 2
    replies[0].give_up()
    late = PaperReply()
    followers.follow(ONE, ONE, late)
    assert (late.refused, len(followers)) == (None, MOST)
    followers.show(OTHER)
    assert [each.told for each in (*replies, late)] == [[], *[[OTHER]] * (MOST - 1), [], [], [OTHER]]
