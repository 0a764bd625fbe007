"""The law of the ways out: none is ever allowed, in no mode that can be had, whatever else the policy allows."""

import pytest

from codec.agent.approvals import Remembered
from codec.agent.policy import ChangeWish, change_verdict, command_verdict
from codec.agent.workspaces import Policy
from tests.agent.codec.policy.escapes import LISTS, PLACES, SPELLINGS, commands, paths

REMEMBERED = (
    Remembered(id="1", kind="command", argv=("npm", "test")),
    Remembered(id="2", kind="command", argv=("git", "status")),
)
TESTS = (("npm", "test"), ("pytest",))
HIDDEN = ("alias ", "| sh", "| bash", "> x; sh x", "sh <<", '"${{a', "\r{")
"""Where what is blocked cannot be told from other texts, it asks."""


def is_hidden(place: str) -> bool:
    return any(each in place for each in HIDDEN) or (place.startswith("git ") and ";" not in place)


def test_there_are_more_than_a_thousand_of_each() -> None:
    assert len(set(commands())) > 1500
    assert len(set(paths())) > 1500


def test_no_line_that_runs_more_than_what_is_listed_is_allowed() -> None:
    testing = Policy(auto_approve_tests=True, blocked_commands=LISTS.blocked_commands)
    for command in commands():
        assert command_verdict(LISTS, "auto", REMEMBERED, command).decision != "allow", command
        assert command_verdict(Policy(), "ask", REMEMBERED, command, tests=TESTS).decision != "allow", command
        assert command_verdict(testing, "auto", (), command, tests=TESTS).decision != "allow", command
        assert command_verdict(LISTS, "plan", REMEMBERED, command).decision == "deny", command


def test_no_path_that_leads_to_what_is_closed_is_changed() -> None:
    open_to_all = Policy(auto_approve_tools=("write_file",), auto_approve_simple_changes=True)
    for path in paths():
        wish = ChangeWish(path=path, tool_name="write_file", changed_lines=1)
        kept = Remembered(id="1", kind="path", path=path)
        assert change_verdict(open_to_all, "auto", (kept,), wish).decision == "deny", path


def test_what_is_blocked_is_denied_at_every_place_of_a_line_and_never_slips_through_where_nothing_asks() -> None:
    never = Policy(command_approval="never", blocked_commands=("rm",))
    for place in PLACES:
        line = place.format(*["rm -rf x"] * place.count("{}"))
        decision = command_verdict(never, "auto", (), line).decision
        assert decision == ("ask" if is_hidden(place) else "deny"), line
    for spelled in SPELLINGS:
        assert command_verdict(never, "auto", (), spelled).decision != "allow", spelled


@pytest.mark.parametrize(
    "line", ["npm test " + "a" * 3_900, "(" * 250 + "npm test" + ")" * 250, "x" * 100_000, "rm " * 2_000, "$(" * 40_000]
)
def test_no_line_is_too_long(line: str) -> None:
    assert command_verdict(LISTS, "auto", (), line).decision == ("allow" if line.startswith("npm") else "ask")
    assert command_verdict(LISTS, "auto", (), tuple(line.split(" "))).decision in ("ask", "deny", "allow")
