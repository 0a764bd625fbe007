"""What an answer does to the requests that wait: the whole table, and that each is settled once."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.agent.requests import (
    IN_A_TERMINAL,
    MOST_OUTPUT,
    Unanswerable,
    as_handed_over,
    cancelled,
    given_up,
    is_same,
    next_expiry,
    pending_patches,
    resolved,
    settling,
    shown,
    timed_out,
    to_remember,
    waiting,
    with_changes,
)
from codec.agent.approvals import ClientResult, Pending, Remembered, Resolution
from codec.agent.client_messages import (
    ApprovalResponse,
    CommandResult,
    PatchApplyResult,
    PatchError,
    TakeBackCommand,
)
from tests.agent.session_kit import command, patch, tool

SENT = 100
YES = Resolution(approved=True, by="bob")
NO = Resolution(approved=False, by="bob")
LOST = Resolution(approved=False, ended="timed_out")
OTHERS = (patch("p1"), patch("p2"), patch("p3", "b.py"), command("c1"), tool("t1"))
BARE = patch("p0", "empty.py", hunks=0)
"""A new file that is empty, or one that is deleted."""


def says(id: str, approved: bool = True, **more: Any) -> ApprovalResponse:  # noqa: A002
    return ApprovalResponse(request_id=id, approved=approved, **more)


# what is said, and which requests it settles
SETTLES = [
    (says("p1"), {"p1", "p2", "p3"}),
    (says("p1", approved=False), {"p1", "p2", "p3"}),
    (says("p1", scope="file"), {"p1", "p2"}),
    (says("p1", scope="file", file_path="a.py"), {"p1", "p2"}),
    (says("p3", scope="file", file_path="b.py"), {"p3"}),
    (says("p1", approved=False, scope="file"), {"p1", "p2"}),
    (says("p2", scope="hunk", hunks=(1,)), {"p2"}),
    (says("p2", scope="hunk", hunks=(1, 0, 1)), {"p2"}),
    (says("p2", approved=False, scope="hunk"), {"p2"}),
    (says("p2", approved=False, scope="hunk", hunks=(0, 1)), {"p2"}),
    (says("c1"), {"c1"}),
    (says("c1", scope="file"), {"c1"}),
    (says("t1"), {"t1"}),
    (says("t1", scope="file", file_path="x.py"), {"t1"}),
    (PatchApplyResult(patch_id="p1", success=True), {"p1"}),
    (PatchApplyResult(patch_id="p1", success=True, file_path="a.py"), {"p1"}),
    (PatchApplyResult(patch_id="p1", success=False), {"p1"}),
    (CommandResult(command_id="c1", exit_code=1), {"c1"}),
]


@pytest.mark.parametrize(("said", "ids"), SETTLES)
def test_an_answer_settles_what_its_scope_says(said: Any, ids: set[str]) -> None:
    found = settling(OTHERS, SENT, said, "ann")
    assert {each.request_id for each in found.requests} == ids
    for each in found.requests:
        assert each.resolution is not None
        assert (each.resolution.by, each.resolution.ended) == ("ann", "answered")
        event = resolved(each)
        assert (event.request_id, event.approved, event.by) == (each.request_id, each.resolution.approved, "ann")


@pytest.mark.parametrize("hunks", [None, ()])
@pytest.mark.parametrize("approved", [True, False])
def test_of_a_patch_without_hunks_the_scope_hunk_is_the_whole(approved: bool, hunks: tuple[int, ...] | None) -> None:
    found = settling((*OTHERS, BARE), SENT, says("p0", approved, scope="hunk", hunks=hunks, remember="session"), "ann")
    (settled,) = found.requests
    assert settled.resolution == Resolution(approved=approved, scope="hunk", by="ann")
    assert found.remember == ("session" if approved else "once")


@pytest.mark.parametrize(("hunks", "kept"), [((1,), (1,)), ((1, 0, 1), None), ((0,), (0,))])
def test_hunks_are_sorted_and_all_of_them_are_the_whole(hunks: tuple[int, ...], kept: tuple[int, ...] | None) -> None:
    found = settling(OTHERS, SENT, says("p1", scope="hunk", hunks=hunks), "ann")
    resolution = found.requests[0].resolution
    assert resolution is not None
    assert (resolution.approved, resolution.scope, resolution.hunks) == (True, "hunk", kept)
    assert found.whole is (kept is None)


REFUSED = [
    (says("nobody"), "Nothing of the id 'nobody' waits", "$.request_id"),
    (says("p1", scope="file", file_path="b.py"), "is of the file a.py, and not of b.py", "$.file_path"),
    (says("p1", scope="hunk", hunks=(0,), file_path="b.py"), "is of the file a.py", "$.file_path"),
    (says("p1", scope="hunk"), "Say which hunks", "$.hunks"),
    (says("p1", scope="hunk", hunks=()), "Say which hunks", "$.hunks"),
    (says("p1", scope="hunk", hunks=(2,)), "The hunks of this patch are counted from 0 to 1", "$.hunks"),
    (says("p1", scope="hunk", hunks=(-1,)), "The hunks of this patch are counted from 0 to 1", "$.hunks"),
    (says("p0", scope="hunk", hunks=(0,)), "This patch has no hunks. Answer it as a whole", "$.hunks"),
    (says("p1", approved=False, scope="hunk", hunks=(0,)), "A refusal is of the whole patch", "$.hunks"),
    (says("c1", scope="hunk", hunks=(0,)), "Only a patch has hunks", "$.scope"),
    (says("t1", scope="hunk"), "Only a patch has hunks", "$.scope"),
    (PatchApplyResult(patch_id="c1", success=True), "is no patch", "$.patch_id"),
    (PatchApplyResult(patch_id="t1", success=True), "is no patch", "$.patch_id"),
    (PatchApplyResult(patch_id="p1", success=True, file_path="b.py"), "is of the file a.py", "$.file_path"),
    (PatchApplyResult(patch_id="nobody", success=True), "Nothing of the id", "$.patch_id"),
    (CommandResult(command_id="p1"), "is no command", "$.command_id"),
    (CommandResult(command_id="nobody"), "Nothing of the id", "$.command_id"),
    (TakeBackCommand(command_id="nobody"), "Nothing of the id", "$.command_id"),
    (TakeBackCommand(command_id="c1"), "No client's terminal has 'c1'", "$.command_id"),
    (TakeBackCommand(command_id="p1"), "No client's terminal has 'p1'", "$.command_id"),
]


@pytest.mark.parametrize(("said", "why", "where"), REFUSED)
def test_an_answer_that_cannot_be_meant_changes_nothing_and_says_why(said: Any, why: str, where: str) -> None:
    with pytest.raises(Unanswerable, match=why) as refused:
        settling((*OTHERS, BARE), SENT, said, "ann")
    assert refused.value.where == where


ANSWERED = [
    (replace(patch("p1"), resolution=YES), says("p1"), "was approved already by bob"),
    (replace(patch("p1"), resolution=NO), says("p1"), "was refused already by bob"),
    (replace(patch("p1"), resolution=LOST), says("p1"), "has timed out"),
    (replace(patch("p1"), resolution=NO), PatchApplyResult(patch_id="p1", success=True), "was refused already"),
    (replace(command("c1"), resolution=LOST), CommandResult(command_id="c1"), "has timed out"),
    (
        replace(patch("p1"), resolution=YES, result=ClientResult(success=True)),
        PatchApplyResult(patch_id="p1", success=False),
        "The result of 'p1' was told already",
    ),
    (replace(patch("p1"), resolution=YES, begun=True), PatchApplyResult(patch_id="p1", success=True), "is doing"),
    (replace(command("c1"), resolution=YES, begun=True), CommandResult(command_id="c1"), "is doing"),
]


def test_the_result_of_a_command_that_a_client_is_running_is_taken_once() -> None:
    running = as_handed_over(command("c1", mode="local_terminal", resolution=YES), (IN_A_TERMINAL,))
    (settled,) = settling((running,), SENT, CommandResult(command_id="c1", exit_code=3), "ann").requests
    assert settled.result is not None
    assert (settled.begun, settled.resolution, settled.result.exit_code) == (True, YES, 3)
    with pytest.raises(Unanswerable, match="was told already"):
        settling((settled,), SENT, CommandResult(command_id="c1"), "bob")


@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("run_here", [True, False])
def test_a_command_that_a_clients_terminal_has_is_taken_back_once_and_then_its_result_is_not_taken(
    asks: bool, run_here: bool
) -> None:
    made = command("c1", mode="local_terminal", asks=asks, resolution=YES if asks else None)
    has_it = as_handed_over(made, (IN_A_TERMINAL,))
    (back,) = settling((has_it,), SENT, TakeBackCommand(command_id="c1", run_here=run_here), "ann").requests
    assert back.terminal == ("run_here" if run_here else "left")
    assert back.resolution == (YES if asks else Resolution(approved=True, by="ann"))
    assert as_handed_over(back, (IN_A_TERMINAL,)) == back
    with pytest.raises(Unanswerable, match="was taken back"):
        settling((back,), SENT, CommandResult(command_id="c1", exit_code=0), "bob")
    with pytest.raises(Unanswerable, match="nothing can be taken back"):
        settling((back,), SENT, TakeBackCommand(command_id="c1", run_here=True), "bob")
    (told,) = settling((has_it,), SENT, CommandResult(command_id="c1", exit_code=0), "bob").requests
    with pytest.raises(Unanswerable, match="nothing can be taken back"):
        settling((told,), SENT, TakeBackCommand(command_id="c1", run_here=True), "ann")


def test_of_a_command_that_the_server_runs_since_no_terminal_was_there_no_clients_result_is_taken() -> None:
    running = replace(command("c1", mode="local_terminal", resolution=YES), begun=True)
    for said in (CommandResult(command_id="c1"), TakeBackCommand(command_id="c1", run_here=True)):
        with pytest.raises(Unanswerable, match=r"is doing|nothing can be taken back"):
            settling((running,), SENT, said, "ann")


@pytest.mark.parametrize(("request_", "said", "why"), ANSWERED)
def test_the_first_answer_counts(request_: Pending, said: Any, why: str) -> None:
    with pytest.raises(Unanswerable, match=why):
        settling((request_, *OTHERS[2:]), SENT, said, "ann")


def test_the_scope_all_leaves_what_is_settled_as_it_is() -> None:
    requests = (patch("p1"), replace(patch("p2"), resolution=NO), patch("p3"))
    found = settling(requests, SENT, says("p3"), "ann")
    assert [each.request_id for each in found.requests] == ["p1", "p3"]


def test_nobody_answers_what_nobody_was_shown() -> None:
    requests = (replace(patch("p1"), seq=5), replace(patch("p2"), seq=9))
    assert [each.request_id for each in settling(requests, 8, says("p1"), "ann").requests] == ["p1"]
    with pytest.raises(Unanswerable, match="Nothing of the id"):
        settling(requests, 8, says("p2"), "ann")


def test_a_request_has_the_id_of_its_patch_or_command_too() -> None:
    asked = replace(patch("p1").asked, request_id="r1")
    requests = (replace(patch("r1"), asked=asked),)
    for id in ("p1", "r1"):  # noqa: A001
        assert settling(requests, SENT, says(id), "ann").requests
        assert settling(requests, SENT, PatchApplyResult(patch_id=id, success=True), "ann").requests


def test_a_patch_that_the_client_applied_is_approved_and_has_its_result() -> None:
    said = PatchApplyResult(patch_id="p1", success=True, applied_hash="sha256:x")
    (found,) = settling(OTHERS, SENT, said, "ann").requests
    assert found.resolution == Resolution(approved=True, by="ann")
    assert found.result == ClientResult(success=True, applied_hash="sha256:x")


@pytest.mark.parametrize("error", [PatchError(message="conflict in line 3"), "conflict in line 3"])
def test_a_patch_that_the_client_could_not_apply_is_refused_with_what_it_says(error: Any) -> None:
    said = PatchApplyResult(patch_id="p1", success=False, error=error)
    (found,) = settling(OTHERS, SENT, said, "ann").requests
    assert found.resolution is not None
    assert not found.resolution.approved
    assert found.resolution.reason == "The client could not apply it: conflict in line 3"
    assert found.result == ClientResult(success=False, error="conflict in line 3")


@pytest.mark.parametrize("success", [True, False])
def test_the_result_of_an_approved_patch_is_told_beside_the_approval(success: bool) -> None:
    approved = replace(patch("p1"), resolution=YES)
    said = PatchApplyResult(patch_id="p1", success=success)
    (found,) = settling((approved,), SENT, said, "ann").requests
    assert found == replace(approved, result=ClientResult(success=success))


def test_a_command_that_the_client_ran_is_approved_and_has_its_result_within_limits() -> None:
    whole = "e" * MOST_OUTPUT
    said = CommandResult(command_id="c1", exit_code=2, stdout="x" * (MOST_OUTPUT + 1), stderr=whole, duration_ms=5)
    (found,) = settling(OTHERS, SENT, said, "ann").requests
    assert found.resolution == Resolution(approved=True, by="ann")
    result = found.result
    assert result is not None
    assert (result.success, result.exit_code, result.stderr, result.duration_ms) == (False, 2, whole, 5)
    half = "x" * (MOST_OUTPUT // 2)
    assert result.stdout == f"{half}\n[1 characters are left out here]\n{half}"


def test_what_a_request_would_have_remembered() -> None:
    def made(**parts: Any) -> Remembered:
        return Remembered(id="1", **parts)

    assert to_remember(command("c"), made) == Remembered(id="1", kind="command", argv=("npm", "test"))
    assert to_remember(command("c", may_remember=()), made) is None
    assert to_remember(patch("p"), made) == Remembered(id="1", kind="path", path="a.py")
    assert to_remember(tool("t"), made) == Remembered(id="1", kind="tool", tool_name="delete_file")
    assert is_same(Remembered(id="1", kind="path", path="a"), Remembered(id="2", kind="path", path="a", at=3))
    assert not is_same(Remembered(id="1", kind="path", path="a"), Remembered(id="1", kind="path", path="b"))


def test_what_is_shown_of_requests() -> None:
    requests = (
        replace(patch("p1"), seq=3, expires_at=7.0),
        replace(patch("p2"), resolution=NO),
        replace(patch("p3"), resolution=YES),
        replace(patch("p4"), resolution=YES, begun=True),
        command("c1"),
        tool("t1"),
    )
    assert pending_patches(requests) == ("p1", "p3")
    assert [(each.kind, each.request_id) for each in map(shown, waiting(requests))] == [
        ("patch", "p1"),
        ("command", "c1"),
        ("tool", "t1"),
    ]
    assert (shown(requests[0]).seq, shown(requests[0]).file_path, shown(requests[0]).expires_at) == (3, "a.py", 7.0)


KINDS: list[Callable[[str], Pending]] = [patch, command, tool]
resolutions = st.sampled_from((None, YES, NO, LOST))


@st.composite
def pending(draw: st.DrawFn) -> tuple[Pending, ...]:
    found = []
    for number in range(draw(st.integers(0, 5))):
        one = draw(st.sampled_from(KINDS))(f"r{number}")
        if draw(st.booleans()):
            one = replace(one, resolution=draw(resolutions), begun=draw(st.booleans()))
        found.append(replace(one, seq=draw(st.integers(0, 9)), expires_at=draw(st.sampled_from((0.0, 5.0, 10.0)))))
    return tuple(found)


answers = st.one_of(
    st.builds(
        ApprovalResponse,
        request_id=st.sampled_from(("r0", "r1", "r2", "x")),
        approved=st.booleans(),
        scope=st.sampled_from(("all", "file", "hunk")),
        hunks=st.none() | st.lists(st.integers(-1, 2), max_size=3).map(tuple),
        file_path=st.sampled_from((None, "a.py", "b.py")),
    ),
    st.builds(PatchApplyResult, patch_id=st.sampled_from(("r0", "r1", "x")), success=st.booleans()),
    st.builds(CommandResult, command_id=st.sampled_from(("r0", "r1", "x")), exit_code=st.sampled_from((0, 1, None))),
)


@given(pending(), st.integers(0, 9), answers)
def test_whatever_is_said_settles_only_what_waits_or_is_refused(
    requests: tuple[Pending, ...], sent: int, said: Any
) -> None:
    before = {each.request_id: each for each in requests}
    try:
        found = settling(requests, sent, said, "ann")
    except Unanswerable:
        return
    assert found.requests
    for each in found.requests:
        was = before[each.request_id]
        assert each.resolution is not None
        assert was.seq <= sent
        if was.resolution is not None:
            assert (each.resolution, was.result, was.begun) == (was.resolution, None, False)
            assert each.result is not None
    after = with_changes(requests, found.requests)
    assert [each.request_id for each in after] == [each.request_id for each in requests]
    with_both = msgspec.json.decode(msgspec.json.encode(after), type=tuple[Pending, ...])
    assert with_both == after
    if not isinstance(said, PatchApplyResult | CommandResult):
        with pytest.raises(Unanswerable):
            settling(after, sent, said, "bob")


@given(pending(), st.floats(0, 20))
def test_whose_time_is_over_is_refused_and_the_others_wait(requests: tuple[Pending, ...], now: float) -> None:
    over = timed_out(requests, now)
    assert {each.request_id for each in over} == {
        each.request_id for each in waiting(requests) if 0 < each.expires_at <= now
    }
    assert all(each.resolution is not None and each.resolution.ended == "timed_out" for each in over)
    left = with_changes(requests, over)
    due = next_expiry(left)
    assert due is None or due > now
    ended = cancelled(left)
    assert not waiting(with_changes(left, ended))
    assert all(each.resolution is not None and not each.resolution.approved for each in ended)


@pytest.mark.parametrize("resolution", [None, YES, NO, LOST])
@pytest.mark.parametrize("result", [None, ClientResult(success=True)])
@pytest.mark.parametrize("mode", ["server_runner", "local_terminal"])
@pytest.mark.parametrize("can", [(), (IN_A_TERMINAL,)])
@pytest.mark.parametrize("asks", [True, False])
def test_a_command_has_begun_when_it_is_allowed_for_a_terminal_that_there_is_and_not_before(
    resolution: Resolution | None, result: ClientResult | None, mode: Any, can: tuple[str, ...], asks: bool
) -> None:
    request = command("c1", mode=mode, asks=asks, resolution=resolution, result=result)
    allowed = resolution is YES or (resolution is None and not asks)
    begins = allowed and result is None and mode == "local_terminal" and bool(can)
    assert as_handed_over(request, can) == replace(request, begun=begins, terminal="has_it" if begins else "")
    assert not as_handed_over(patch("p1", resolution=YES), can).begun


@pytest.mark.parametrize("code", [-9, 0, 1, 127])
def test_a_command_of_a_client_has_succeeded_if_it_has_returned_0(code: int) -> None:
    (settled,) = settling(OTHERS, SENT, CommandResult(command_id="c1", exit_code=code), "ann").requests
    assert settled.result is not None
    assert (settled.result.success, settled.result.exit_code) == (code == 0, code)
    assert settled.resolution == Resolution(approved=True, by="ann")


def test_only_what_waits_is_given_up() -> None:
    settled = replace(patch("p1"), resolution=YES)
    found = given_up((settled, patch("p2"), command("c1")), ["p1", "p2", "x"])
    assert [(each.request_id, each.resolution.ended) for each in found if each.resolution] == [("p2", "timed_out")]
