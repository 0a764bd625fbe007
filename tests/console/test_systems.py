"""A system's state and sentence, for each state of its slot and its listener."""

import pytest

from actors.console.systems import SystemFact, health, status
from actors.kernel import MailboxStatistics, SlotState, SlotStatistics
from codec.console import Listening, System

LISTENS = SystemFact("console", enabled=True, listens=True, about="this page")
QUIET = SystemFact("store", enabled=True, listens=False, about="stores boards and problems")
OFF = SystemFact("judge", enabled=False, listens=True, about="runs solutions")
UP = Listening(True, "http://127.0.0.1:5160", "listening")
DOWN = Listening(False, None, "port 5160 is in use")


def slot(
    state: SlotState, *, error: str | None = None, note: str | None = None, trouble: str | None = None
) -> SlotStatistics:
    mailbox = MailboxStatistics(0, 0, 0, 1, 0, 0)
    return SlotStatistics(
        path="troupe/x",
        supervises=True,
        dynamic=False,
        state=state,
        since=0.0,
        restarts=0,
        restarted_at=None,
        crashes=0,
        crashed_at=None,
        error=error,
        handled=0,
        dropped=0,
        children=0,
        called=None,
        note=note,
        trouble=trouble,
        mailbox=mailbox,
    )


@pytest.mark.parametrize(
    ("fact", "there", "listening", "state", "words"),
    [
        pytest.param(OFF, None, None, "off", "[judge] enabled = true", id="switched off"),
        pytest.param(LISTENS, None, None, "starting", "turn", id="not reached yet"),
        pytest.param(LISTENS, slot(SlotState.STARTING), None, "starting", "is starting", id="starting"),
        pytest.param(LISTENS, slot(SlotState.RUNNING), None, "starting", "port", id="no port yet"),
        pytest.param(LISTENS, slot(SlotState.RUNNING), UP, "up", "listening", id="up"),
        pytest.param(LISTENS, slot(SlotState.RUNNING), DOWN, "down", "in use", id="port in use"),
        pytest.param(LISTENS, slot(SlotState.WAITING, error="crashed: Boom"), UP, "down", "Boom", id="restarting"),
        pytest.param(LISTENS, slot(SlotState.STOPPING), UP, "down", "not running", id="stopping"),
        pytest.param(LISTENS, slot(SlotState.STOPPED), UP, "down", "not running", id="stopped"),
        pytest.param(LISTENS, slot(SlotState.PAUSED, note="15 s", error="Boom"), UP, "paused", "Boom", id="paused"),
        pytest.param(QUIET, slot(SlotState.RUNNING), None, "up", "stores boards", id="no listener"),
        pytest.param(QUIET, slot(SlotState.RUNNING, note="3 logs"), None, "up", "3 logs", id="with a note"),
        pytest.param(QUIET, slot(SlotState.RUNNING, trouble="disk full"), None, "failing", "full", id="in trouble"),
        pytest.param(LISTENS, slot(SlotState.RUNNING, trouble="no room"), UP, "failing", "room", id="listens in vain"),
    ],
)
def test_a_system_says_how_it_is(
    fact: SystemFact, there: SlotStatistics | None, listening: Listening | None, state: str, words: str
) -> None:
    said = status(fact, there, listening)
    assert said.state == state
    assert words in said.sentence
    assert (said.url is not None) == (state == "up" and fact.listens)


@pytest.mark.parametrize(
    ("states", "well"),
    [
        (("up", "off"), "ok"),
        (("up", "down"), "degraded"),
        (("paused",), "degraded"),
        (("failing",), "degraded"),
        (("starting",), "degraded"),
    ],
)
def test_health_is_ok_when_all_that_is_switched_on_is_up(states: tuple[str, ...], well: str) -> None:
    systems = tuple(System("x", state, "", None) for state in states)  # type: ignore[arg-type]
    assert health(systems, version="1", pid=1, uptime=0.0).status == well
