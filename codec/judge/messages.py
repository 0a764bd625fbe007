"""The messages between the backend and a page.

Rules
  - `type` is the tag. Messages of the spec are as the spec defines them. We add `state/problems`,
    `state/problemsChanged`, `state/case`, `state/arrived`, `ui/cancel`, `ui/updateSettings`, `ui/openProblem`,
    `ui/requestCase`, `ui/look` and `ui/forget`.
  - A run has a number, and its progress, its results and its end carry that number. So the messages of two runs are
    never mixed up.
  - A page is told of cases before their results. `outdated` tells it which results belong to another solution, test,
    interpreter or setting than the current one.
  - Every message about a run or a case has a `problemId`. A page may leave it out and then means the loaded problem. If
    it is there, a click never applies to a problem that came in just before the click. In `ui/requestInit` it is the
    problem that the page comes back to.
  - A page's message is read field by field. An error names the field, what was expected and what came instead. Unknown
    fields are ignored, because a page may be newer.
"""

from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct, structs

from codec.judge.problem import Case, Entity, LastRun, Listed, Outdated, RunResult, ShownProblem, Summary
from codec.judge.settings import BadChange, Commands, Interpreter, RunSettings, changed
from codec.judge.texts import wholly
from codec.judge.wording import shown
from codec.words import kind, listed

Scope = Literal["one", "all"]

LONGEST = 65_536
"""Bytes of one message from a page."""
MOST_INDICES = 10_000
"""Cases that a page may ask for by number. To run all of them, it names none."""


class BadMessage(Exception):
    """A page's message cannot be carried out. The error's text is a sentence for the user."""


class Message(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="type"):
    pass


# --- to a page -------------------------------------------------------------------------------------------------------


class Running(Entity, frozen=True, gc=False, kw_only=True):
    """A run that is under way."""

    scope: Scope
    current_index: int | None = None
    run: int | None = None
    indices: tuple[int, ...] | None = None
    """All cases of the run."""


class StateInit(Message, frozen=True, kw_only=True, tag="state/init"):
    """The whole state, for a page that knows nothing. It includes the last run's results, so a reload loses nothing."""

    problem: ShownProblem | None = None
    settings: RunSettings
    results: tuple[RunResult, ...] = ()
    summary: Summary | None = None
    running: Running | None = None
    interrupted: bool = False
    """Whether the last run was cut short by the end of the server."""
    last: LastRun | None = None
    """The run that the summary describes."""
    commands: Commands = Commands()
    """The commands that a page can choose from; if the message has none, the defaults."""


class StateUpdate(Message, frozen=True, tag="state/update"):
    problem: ShownProblem
    outdated: tuple[Outdated, ...] = ()
    """All results of the problem that are out of date."""


class StateProblems(Message, frozen=True, tag="state/problems"):
    """All problems, and which one is loaded."""

    problems: tuple[Listed, ...]
    current: str | None = None


class StateProblemsChanged(Message, frozen=True, tag="state/problemsChanged"):
    """How a long list of problems has changed since it was told: first, those of `gone` leave it. Then each of
    `problems` takes the place of the one with its id or, if there is none, comes to the end."""

    gone: tuple[str, ...] = ()
    problems: tuple[Listed, ...] = ()
    current: str | None = None


class StateArrived(Message, frozen=True, tag="state/arrived"):
    """This problem was just posted, and the page keeps showing its own."""

    problem: Listed


class StateCase(Message, frozen=True, gc=False, kw_only=True, tag="state/case"):
    """The whole of one case, for the page that asked."""

    problem_id: str | None = None
    case: Case
    result: RunResult | None = None
    """With all of its output that was kept."""


class RunProgress(Message, frozen=True, gc=False, tag="run/progress"):
    scope: Scope
    running: bool
    current_index: int | None = None
    problem_id: str | None = None
    run: int | None = None
    indices: tuple[int, ...] | None = None
    """All cases of the run; sent once, when it begins."""


class RunReport(Message, frozen=True, gc=False, tag="run/result"):
    scope: Scope
    result: RunResult
    problem_id: str | None = None


class RunComplete(Message, frozen=True, gc=False, tag="run/complete"):
    scope: Scope
    summary: Summary
    problem_id: str | None = None
    cancelled: bool = False
    run: int | None = None


class Notice(Message, frozen=True, gc=False, tag="notice"):
    level: Literal["info", "warn", "error"]
    message: str


BackendMessage = (
    StateInit | StateUpdate | StateProblems | StateProblemsChanged | StateCase | StateArrived | RunProgress | RunReport
    | RunComplete | Notice
)

_encode = msgspec.json.Encoder().encode


def write(message: BackendMessage) -> bytes:
    """The message as JSON."""
    try:
        return _encode(message)
    except UnicodeEncodeError:  # a path whose bytes are not UTF-8: Python carries them as halves of surrogate pairs
        return _encode(wholly(msgspec.to_builtins(message)))


# --- from a page -----------------------------------------------------------------------------------------------------

Index = Annotated[int, Meta(ge=1, description="the number of a case, from 1")]
Indices = Annotated[
    Annotated[tuple[Annotated[int, Meta(ge=1)], ...], Meta(max_length=MOST_INDICES)] | None,
    Meta(description=f"an array of at most {MOST_INDICES:,} numbers of cases, each from 1"),
]
ProblemId = Annotated[str, Meta(min_length=1, max_length=400, description="the id of a problem")]
MaybeProblemId = Annotated[ProblemId | None, Meta(description="the id of a problem")]


class RunOne(Message, frozen=True, gc=False, tag="ui/runOne"):
    index: Index
    problem_id: MaybeProblemId = None


class RunAll(Message, frozen=True, gc=False, tag="ui/runAll"):
    indices: Indices = None
    """None: all."""
    problem_id: MaybeProblemId = None


class SwitchInterpreter(Message, frozen=True, gc=False, tag="ui/switchInterpreter"):
    interpreter: Annotated[Interpreter, Meta(description='"cpython" or "pypy"')]


class RequestInit(Message, frozen=True, gc=False, tag="ui/requestInit"):
    problem_id: MaybeProblemId = None
    """The problem to load first. If it does not exist, the loaded one stays."""
    follow: Annotated[bool, Meta(description="true or false")] = True
    """Whether a posted problem is loaded at once, unless the loaded one is running. False: the page is only told."""


class Cancel(Message, frozen=True, gc=False, tag="ui/cancel"):
    problem_id: MaybeProblemId = None


class UpdateSettings(Message, frozen=True, tag="ui/updateSettings"):
    """The input of `changed`; it has been checked already."""

    settings: Annotated[dict[str, Any], Meta(description="an object with the settings to change")]


class OpenProblem(Message, frozen=True, gc=False, tag="ui/openProblem"):
    id: ProblemId


class RequestCase(Message, frozen=True, gc=False, tag="ui/requestCase"):
    index: Index
    problem_id: MaybeProblemId = None


class Look(Message, frozen=True, gc=False, tag="ui/look"):
    """The user is back at the page, which asks whether everything is still as it shows it."""


class Forget(Message, frozen=True, gc=False, tag="ui/forget"):
    """Take the problem off the list. Its folder stays, and the problem comes back when it is posted again."""

    id: ProblemId


UiMessage = (
    RunOne | RunAll | SwitchInterpreter | RequestInit | Cancel | UpdateSettings | OpenProblem | RequestCase | Look
    | Forget
)  # fmt: skip

_KINDS: dict[str, type[UiMessage]] = {str(each.__struct_config__.tag): each for each in get_args(UiMessage)}


def read_ui(text: bytes | str) -> UiMessage:
    """The message of a page. Raises BadMessage."""
    said = _object(text)
    name = said.get("type")
    known = _KINDS.get(name) if isinstance(name, str) else None
    if known is None:
        was = shown(name) if "type" in said else "missing"
        raise BadMessage(f"type is {was}; expected one of {listed(_KINDS)}")
    message = known(**{field.name: _field(str(name), field, said) for field in structs.fields(known)})
    if isinstance(message, UpdateSettings):
        try:
            changed(RunSettings(), message.settings)
        except BadChange as error:
            raise BadMessage(f"{name}: {error}") from None
    return message


def _object(text: bytes | str) -> dict[str, Any]:
    if len(text) > LONGEST:
        raise BadMessage(f"the message is too long ({len(text):,}); expected at most {LONGEST:,} bytes")
    try:
        said = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise BadMessage("the message is not JSON; expected an object with a type") from None
    if not isinstance(said, dict):
        raise BadMessage(f"the message is {kind(said)}; expected an object with a type")
    return said


def _field(message: str, field: structs.FieldInfo, said: dict[str, Any]) -> Any:
    name, expected = field.encode_name, "".join(meta.description or "" for meta in field.type.__metadata__)
    if name not in said:
        if field.required:
            raise BadMessage(f"{message}: {name} is missing; expected {expected}")
        return field.default
    value = said[name]
    try:
        return msgspec.convert(value, field.type)
    except msgspec.ValidationError:
        raise BadMessage(f"{message}: {name} must be {expected}, not {shown(value)}") from None
