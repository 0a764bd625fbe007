"""What becomes of the requests of a turn when somebody answers: pure functions over those that the row keeps.

    said                        of a patch                          of a command, or another tool
    client.approval_response    all    every patch that waits       this request alone
                                file   those of the same file       this request alone
                                hunk   this one, with its hunks     refused: it has none
    client.patch_apply_result   success: approved, and its result   refused
                                failure: refused, with the reason
    client.command_result       refused                             a command: approved, and its result
    client.take_back_command    refused                             a command that a terminal has: run here, or left

Rules
  - Each request is settled once. The first answer counts, and every further one is refused and changes nothing. After
    an approval one result may follow, as long as the server has not begun to act itself.
  - A command for a client's terminal has begun with its approval, if such a client is there; a command that needs no
    approval has begun when the client is asked for it. From that client only a result is accepted, until a user takes
    the command back; then none is.
  - Nobody can answer a request before it was shown: a request whose event is not sent yet is unknown.
  - A refusal settles a whole patch, and an approval by hunks refuses all the others.
  - Only a whole approval is remembered, and only a command can be remembered exactly.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, Never, assert_never

from msgspec import Struct
from msgspec.structs import replace

from codec.agent.action_events import ApprovalResolved, PatchProposed, RequestApproval, RequestCommandApproval, Scope
from codec.agent.approvals import ClientResult, Pending, Remembered, Resolution
from codec.agent.client_messages import (
    ApprovalResponse,
    CommandResult,
    PatchApplyResult,
    PatchError,
    TakeBackCommand,
)
from codec.agent.events import RequestShown

MOST_OUTPUT = 128 << 10
"""Characters of each output that a client tells; the middle of a longer one is left out."""
LONGEST_ERROR = 2_000
IN_A_TERMINAL = "terminal_exec"
"""A client with this capability runs commands itself."""
APPLIES = frozenset({"diff_preview", "patch_apply"})
"""A client with one of these capabilities applies patches itself."""
TIMED_OUT = Resolution(approved=False, ended="timed_out", reason="Nobody has answered in time.")

TAKEN_BACK = ("run_here", "left")

Answer = ApprovalResponse | PatchApplyResult | CommandResult | TakeBackCommand


class Unanswerable(Exception):
    """The answer changes nothing. The text is a sentence for whoever has said it."""

    def __init__(self, why: str, where: str) -> None:
        super().__init__(why)
        self.where = where


class Settling(Struct, frozen=True):
    """What an answer does."""

    requests: tuple[Pending, ...]
    """Those that it changes, as they are then."""
    remember: Literal["once", "session", "workspace"] = "once"
    whole: bool = True
    """Whether all of it is approved, so that it can be remembered."""
    exactly: bool = False
    """Whether only this very command is to be remembered."""


# -- a request


def kind_of(request: Pending) -> Literal["patch", "command", "tool"]:
    match request.asked:
        case PatchProposed():
            return "patch"
        case RequestCommandApproval():
            return "command"
        case RequestApproval():
            return "tool"
        case never:
            assert_never(never)


def file_of(request: Pending) -> str | None:
    return request.asked.file_path if isinstance(request.asked, PatchProposed) else None


def waits(request: Pending) -> bool:
    """Whether it waits for an answer."""
    return request.resolution is None


def waiting(requests: Iterable[Pending]) -> tuple[Pending, ...]:
    return tuple(each for each in requests if waits(each))


def asks(request: Pending) -> bool:
    """Whether a person is to approve it. Otherwise a client is only to do something, and to tell the result."""
    return isinstance(request.asked, RequestApproval) or request.asked.requires_approval


def pending_approvals(requests: Iterable[Pending]) -> tuple[str, ...]:
    return tuple(each.request_id for each in waiting(requests) if asks(each))


def shown(request: Pending) -> RequestShown:
    return RequestShown(
        request_id=request.request_id,
        kind=kind_of(request),
        seq=request.seq,
        file_path=file_of(request),
        expires_at=request.expires_at,
    )


def pending_patches(requests: Iterable[Pending]) -> tuple[str, ...]:
    """Those that wait for an answer, or for the client that is to apply them."""
    return tuple(
        each.asked.patch_id
        for each in requests
        if isinstance(each.asked, PatchProposed)
        and not each.begun
        and each.result is None
        and (each.resolution is None or each.resolution.approved)
    )


def resolved(request: Pending) -> ApprovalResolved:
    """The event that tells how it has ended."""
    resolution = request.resolution
    assert resolution is not None
    parts = {name: getattr(resolution, name) for name in Resolution.__struct_fields__}
    return ApprovalResolved(request_id=request.request_id, **parts)


def with_changes(requests: Sequence[Pending], changes: Iterable[Pending]) -> tuple[Pending, ...]:
    """The requests, some of which have changed."""
    changed = {each.request_id: each for each in changes}
    return tuple(changed.get(each.request_id, each) for each in requests)


# -- an answer


def settling(requests: Sequence[Pending], sent: int, said: Answer, by: str) -> Settling:
    """What this answer does to these. `sent`: the last number that clients were sent; `by`: who says it. Raises
    Unanswerable."""
    match said:
        case ApprovalResponse(request_id=id):
            return _approval(requests, _found(requests, sent, id, "$.request_id"), sent, said, by)
        case PatchApplyResult(patch_id=id):
            return Settling((_applied(_found(requests, sent, id, "$.patch_id"), said, by),))
        case CommandResult(command_id=id):
            return Settling((_run(_found(requests, sent, id, "$.command_id"), said, by),))
        case TakeBackCommand(command_id=id):
            return Settling((_taken_back(_found(requests, sent, id, "$.command_id"), said, by),))
        case never:
            assert_never(never)


def _found(requests: Sequence[Pending], sent: int, id: str, where: str) -> Pending:  # noqa: A002 - as in the contract
    for each in requests:
        if id in _ids(each) and each.seq <= sent:
            return each
    why = f"Nothing of the id {id!r} waits for an answer. It may have been answered, or its turn may be over."
    raise Unanswerable(why, where)


def _ids(request: Pending) -> tuple[str, ...]:
    match request.asked:
        case PatchProposed(patch_id=id) | RequestCommandApproval(command_id=id):
            return request.request_id, id
        case _:
            return (request.request_id,)


def _answered(request: Pending) -> Never:
    resolution = request.resolution
    assert resolution is not None
    if resolution.ended == "timed_out":
        why = f"The request {request.request_id!r} has timed out: this answer came too late. It counts as refused."
        raise Unanswerable(why, "$.request_id")
    ended = {
        "answered": f"was {'approved' if resolution.approved else 'refused'} already",
        "cancelled": "was cancelled with its turn",
    }[resolution.ended]
    by = f" by {resolution.by}" if resolution.by and resolution.ended == "answered" else ""
    raise Unanswerable(f"The request {request.request_id!r} {ended}{by}. The first answer counts.", "$.request_id")


def _approval(requests: Sequence[Pending], request: Pending, sent: int, said: ApprovalResponse, by: str) -> Settling:
    if not waits(request):
        _answered(request)
    _check_file(request, said.file_path)
    if said.exactly and kind_of(request) != "command":
        raise Unanswerable("Only a command can be remembered exactly as it is.", "$.exactly")
    hunks = _hunks(request, said) if said.scope == "hunk" else None
    resolution = Resolution(approved=said.approved, scope=said.scope, hunks=hunks, by=by, reason=said.reason)
    meant = [each for each in waiting(requests) if each.seq <= sent and _is_meant(each, request, said.scope)]
    settled = tuple(replace(each, resolution=resolution) for each in meant)
    return Settling(settled, said.remember if said.approved else "once", whole=hunks is None, exactly=said.exactly)


def _is_meant(other: Pending, request: Pending, scope: Scope) -> bool:
    """Whether an answer to the one settles the other, too."""
    if kind_of(request) != "patch" or scope == "hunk":
        return other is request
    return kind_of(other) == "patch" and (scope == "all" or file_of(other) == file_of(request))


def _check_file(request: Pending, file_path: str | None) -> None:
    of = file_of(request)
    if file_path and of is not None and file_path != of:
        why = f"The patch {request.request_id!r} is of the file {of}, and not of {file_path}."
        raise Unanswerable(why, "$.file_path")


def _hunks(request: Pending, said: ApprovalResponse) -> tuple[int, ...] | None:
    """The approved ones. None: all, or none of them matters."""
    asked = request.asked
    if not isinstance(asked, PatchProposed):
        raise Unanswerable("Only a patch has hunks. Answer this request as a whole: scope `all`.", "$.scope")
    every = set(range(len(asked.hunks)))
    if not every and not said.hunks:
        return None
    named = None if said.hunks is None else set(said.hunks)
    if named is not None and not named <= every:
        if not every:
            raise Unanswerable("This patch has no hunks. Answer it as a whole: scope `all`.", "$.hunks")
        raise Unanswerable(f"The hunks of this patch are counted from 0 to {len(every) - 1}.", "$.hunks")
    if not said.approved:
        if named not in (None, every):
            why = "A refusal is of the whole patch. Approve the hunks that you want, and the others are refused."
            raise Unanswerable(why, "$.hunks")
        return None
    if not named:
        raise Unanswerable("Say which hunks you approve, counted from 0: `hunks`.", "$.hunks")
    return None if named == every else tuple(sorted(named))


# -- what a client has done itself


def _applied(request: Pending, said: PatchApplyResult, by: str) -> Pending:
    if kind_of(request) != "patch":
        raise Unanswerable(f"The request {request.request_id!r} is no patch.", "$.patch_id")
    _check_file(request, said.file_path)
    error = said.error.message if isinstance(said.error, PatchError) else said.error
    told = (error or "")[:LONGEST_ERROR] or None
    result = ClientResult(success=said.success, error=told, applied_hash=said.applied_hash)
    why = None if said.success else f"The client could not apply it{f': {told}' if told else '.'}"
    return _with_result(request, result, Resolution(approved=said.success, by=by, reason=why))


def _run(request: Pending, said: CommandResult, by: str) -> Pending:
    if kind_of(request) != "command":
        raise Unanswerable(f"The request {request.request_id!r} is no command.", "$.command_id")
    result = ClientResult(
        success=said.exit_code == 0,
        exit_code=said.exit_code,
        stdout=_without_middle(said.stdout),
        stderr=_without_middle(said.stderr),
        duration_ms=said.duration_ms,
    )
    return _with_result(request, result, Resolution(approved=True, by=by))


def _with_result(request: Pending, result: ClientResult, otherwise: Resolution) -> Pending:
    """The request with what the client did; if nobody has answered it yet, that is the answer."""
    if request.resolution is None:
        return replace(request, resolution=otherwise, result=result)
    if not request.resolution.approved or request.resolution.ended != "answered":
        _answered(request)
    if request.result is not None:
        raise Unanswerable(f"The result of {request.request_id!r} was told already.", "$.type")
    if request.terminal in TAKEN_BACK:
        raise Unanswerable(f"The command {request.request_id!r} was taken back: its result is not awaited.", "$.type")
    if request.begun and request.terminal != "has_it":
        raise Unanswerable(f"The server is doing {request.request_id!r} itself: no client has in time.", "$.type")
    return replace(request, result=result)


def as_handed_over(request: Pending, capabilities: Collection[str]) -> Pending:
    """The request as it is kept with its answer, or as it is asked if it needs none: a command for a client's terminal
    has begun, if there is such a client, because that may run it as soon as it hears of that. Nobody else runs it
    then."""
    allowed = not asks(request) if request.resolution is None else request.resolution.approved
    is_new = not request.terminal and request.result is None
    if allowed and is_new and _in_a_terminal(request) and IN_A_TERMINAL in capabilities:
        return replace(request, begun=True, terminal="has_it")
    return request


def _taken_back(request: Pending, said: TakeBackCommand, by: str) -> Pending:
    if request.terminal != "has_it" or request.result is not None:
        why = f"No client's terminal has {request.request_id!r}, or none has it any more: nothing can be taken back."
        raise Unanswerable(why, "$.command_id")
    resolution = request.resolution or Resolution(approved=True, by=by)
    return replace(request, terminal="run_here" if said.run_here else "left", resolution=resolution)


def _in_a_terminal(request: Pending) -> bool:
    """Whether a client is to run it."""
    asked = request.asked
    return isinstance(asked, RequestCommandApproval) and asked.execution_mode == "local_terminal"


def _without_middle(text: str) -> str:
    if len(text) <= MOST_OUTPUT:
        return text
    half = MOST_OUTPUT // 2
    return f"{text[:half]}\n[{len(text) - 2 * half:,} characters are left out here]\n{text[-half:]}"


# -- nobody has answered


def given_up(requests: Sequence[Pending], ids: Collection[str]) -> tuple[Pending, ...]:
    """Those of these for which the turn does not wait any longer, although nobody has answered, settled so."""
    return tuple(replace(each, resolution=TIMED_OUT) for each in waiting(requests) if each.request_id in ids)


def timed_out(requests: Sequence[Pending], now: float) -> tuple[Pending, ...]:
    """Those whose time is over, settled so."""
    over = [each for each in waiting(requests) if each.expires_at and each.expires_at <= now]
    return tuple(replace(each, resolution=TIMED_OUT) for each in over)


def cancelled(requests: Sequence[Pending]) -> tuple[Pending, ...]:
    """All that wait, settled so."""
    resolution = Resolution(approved=False, ended="cancelled", reason="The turn was cancelled.")
    return tuple(replace(each, resolution=resolution) for each in waiting(requests))


def next_expiry(requests: Sequence[Pending]) -> float | None:
    """In seconds since 1970."""
    return min((each.expires_at for each in waiting(requests) if each.expires_at), default=None)


# -- what is remembered of an approval


def to_remember(request: Pending, made: Callable[..., Remembered], *, exactly: bool = False) -> Remembered | None:
    """`made` adds who remembers it, when and where. None: it cannot be remembered."""
    match request.asked:
        case RequestCommandApproval() if exactly:
            return None if request.exactly is None else made(kind="command", exactly=request.exactly)
        case PatchProposed(file_path=path):
            return made(kind="path", path=path)
        case RequestCommandApproval(may_remember=argv):
            return made(kind="command", argv=argv) if argv else None
        case RequestApproval(tool_name=name):
            return made(kind="tool", tool_name=name)
        case never:
            assert_never(never)


def is_same(one: Remembered, other: Remembered) -> bool:
    """Whether they allow the same."""
    return _allowed(one) == _allowed(other)


def _allowed(one: Remembered) -> tuple[object, ...]:
    return one.kind, one.argv, one.exactly, one.path, one.tool_name
