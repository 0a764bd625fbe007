"""How solutions are run and compared: the settings that a page shows and changes.

A change names only the settings that it changes, so two open pages do not undo each other's changes. A refusal lists
all mistakes at once, each with the setting's name on the wire, what was expected and what came.

The configuration names the programs that can be run: anybody who may edit it can run any program anyway. A client can
only choose among them (`Commands`). So a command that comes over the wire is a choice, never the name or path of some
other program.

To add a setting, add a field with a default. A refusal quotes its `Meta` description as what was expected.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast, get_args

import msgspec
from msgspec import Meta, Struct, structs

from codec.judge.wording import shown
from codec.words import kind, listed

Interpreter = Literal["cpython", "pypy"]
CwdMode = Literal["workspace", "task"]
CompareMode = Literal["exact", "trim", "tokens", "float"]

LONGEST_TIMEOUT = 3_600_000
"""Milliseconds."""


def _one_of(words: Any) -> Meta:
    *most, last = (f'"{word}"' for word in get_args(words))
    return Meta(description=f"{', '.join(most)} or {last}")


Command = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=1_000,
        pattern=r"\A[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*\Z",
        description='the name or path of a program, in one line, such as "python3"',
    ),
]


class Compare(Struct, frozen=True, gc=False, kw_only=True, rename="camel", forbid_unknown_fields=True):
    mode: Annotated[CompareMode, _one_of(CompareMode)] = "exact"
    """`exact`: byte for byte, but for `\\r\\n`. `trim`: without blanks at the ends of lines and empty lines at the end.
    `tokens`: word for word. `float`: word for word, where numbers may be apart by the tolerance."""
    case_sensitive: Annotated[bool, Meta(description="true or false")] = True
    tolerance: Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1, such as 1e-6")] = 1e-6
    """The absolute or the relative difference may be this large; the more generous of the two counts."""


class RunSettings(Struct, frozen=True, gc=False, kw_only=True, rename="camel", forbid_unknown_fields=True):
    interpreter: Annotated[Interpreter, _one_of(Interpreter)] = "cpython"
    python_command: Command = "python3"
    pypy_command: Command = "pypy3"
    run_cwd_mode: Annotated[CwdMode, _one_of(CwdMode)] = "workspace"
    timeout_ms: Annotated[
        Annotated[int, Meta(ge=1, le=LONGEST_TIMEOUT)] | None,
        Meta(description=f"a whole number of milliseconds from 1 to {LONGEST_TIMEOUT}, or null for the problem's own"),
    ] = None
    memory_limit_mb: Annotated[
        Annotated[int, Meta(ge=0, le=1_048_576)] | None,
        Meta(description="a whole number of MB, 0 for no limit, or null for the problem's own"),
    ] = None
    jobs: Annotated[
        Annotated[int, Meta(ge=1, le=256)] | None,
        Meta(description="how many cases run at once, from 1 to 256, or null for as many as there are cores"),
    ] = None
    compare: Annotated[Compare, Meta(description="an object")] = Compare()


class Commands(Struct, frozen=True, gc=False, kw_only=True, rename="camel"):
    """The commands in the configuration. The first is used unless a page chooses another."""

    python_command: tuple[str, ...] = (RunSettings().python_command,)
    pypy_command: tuple[str, ...] = (RunSettings().pypy_command,)

    def of(self, name: str) -> tuple[str, ...] | None:
        """The choices for a setting, which is named as on the wire. None: the setting is not a command."""
        return self.pypy_command if name == "pypyCommand" else self.python_command if name == "pythonCommand" else None


class BadChange(Exception):
    """All mistakes in a change, in sentences for the user."""


def changed(settings: RunSettings, changes: Mapping[str, Any], commands: Commands | None = None) -> RunSettings:
    """The settings with changes as they are on the wire: `{"timeoutMs": 3000, "compare": {"mode": "tokens"}}`.

    Without `commands`, a command is only checked for its form.
    """
    wrong: list[str] = []
    after = _changed(settings, changes, "", wrong)
    for name, value in changes.items():
        named = None if commands is None else commands.of(name)
        if named is not None and isinstance(value, str) and value not in named:
            words = " or ".join(map(shown, named))
            wrong.append(f"{name} must be {words}, which the configuration names, not {shown(value)}")
    if wrong:
        raise BadChange("; ".join(wrong))
    return cast("RunSettings", after)


def with_what_makes_sense(settings: RunSettings, changes: Mapping[str, Any]) -> RunSettings:
    """The settings with those of the changes that can be made: they may have been kept by another version of Troupe."""
    return cast("RunSettings", _changed(settings, changes, "", []))


def without_unnamed(changes: Mapping[str, Any], commands: Commands) -> tuple[dict[str, Any], list[str]]:
    """Stored changes without the commands that the configuration does not name (any more); and a sentence for each
    command that was left out."""
    rest, sentences = dict(changes), []
    for name, value in changes.items():
        named = commands.of(name)
        if named is not None and value not in named:
            del rest[name]
            sentences.append(
                f"{name} was set to {shown(value)} on a page, but the configuration does not name that command, and it "
                f"is not used: {shown(named[0])} is. To have it, name it there ({_SETTINGS[name]} under [judge])"
            )
    return rest, sentences


_SETTINGS = {"pythonCommand": "python_command", "pypyCommand": "pypy_command"}


def _changed(before: Struct, changes: Mapping[str, Any], above: str, wrong: list[str]) -> Struct:
    known = {field.encode_name: field for field in structs.fields(before)}
    values: dict[str, Any] = {}
    for name, value in changes.items():
        path = f"{above}{name if name in known else shown(name)}"
        if name not in known:
            wrong.append(f"{path} is not a setting; there are {listed(known)}")
            continue
        field = known[name]
        now = getattr(before, field.name)
        if isinstance(now, Struct) and isinstance(value, dict):
            values[field.name] = _changed(now, value, f"{path}.", wrong)
            continue
        try:
            values[field.name] = msgspec.convert(_whole_number(value), field.type)
        except msgspec.ValidationError:
            was = kind(value) if isinstance(now, Struct) else shown(value)
            wrong.append(f"{path} must be {_expected(field.type)}, not {was}")
    return structs.replace(before, **values)


def _whole_number(value: Any) -> Any:
    """Some clients write 1500 as 1500.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _expected(annotated: Any) -> str:
    return " ".join(meta.description for meta in getattr(annotated, "__metadata__", ()) if meta.description)
