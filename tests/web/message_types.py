"""Generates the messages' types for TypeScript, with which tsc checks the pages (`.ci/pages tsc`). They are made from
the structs in codec/. So if a field is renamed or removed there, tsc reports the pages that still read it.

    .venv/bin/python -m tests.web.message_types     # writes web/messages.d.ts

Rules
  - A field that messages may leave out is optional. A field that may be null has a type with null. Of what pages say to
    the agent, all fields that have a default may be left out.
  - Other constraints of numbers and texts (`Meta`) are left out, because tsc cannot check them.
  - Each protocol is a namespace. Sidekick's components, actions and events are listed as in its tables.
"""

import json
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec import inspect

from actors.sidekick.clearing import BoardState
from codec import console
from codec.agent import client_messages, events
from codec.agent.endpoints import ENDPOINTS
from codec.agent.schemas import structs
from codec.agent.workspaces import Detail
from codec.ipc import desk
from codec.judge import messages as judge
from codec.sidekick import shapes

FILE = Path(__file__).parents[2] / "web" / "messages.d.ts"
TOP = "// Made by `python -m tests.web.message_types` from the structs in codec/. Changes belong there.\n"
PLAIN = {
    inspect.StrType: "string",
    inspect.IntType: "number",
    inspect.FloatType: "number",
    inspect.BoolType: "boolean",
    inspect.NoneType: "null",
    inspect.AnyType: "any",
}
BOARDS_OWN = """\
export interface Remove { id?: number; component: string; type: "remove"; target: string }
export interface Fault { id?: number; component: string; type: "error"; src?: string; payload?: FaultPayload }
export interface Announce { id?: number; component: "system"; type: "announce"; payload: AnnouncePayload }
export interface ClearAll { id?: number; component: "global"; type: "clearAll" }
export interface BoardState { id?: number; component: "board"; type: "state"; payload: State }
export interface Follow { id?: number; component: "board"; type: "follow" }
export interface Clear { id?: number; component: "board"; type: "clear" }"""


def whole() -> str:
    return TOP + "".join(
        f"\nexport namespace {name} {{\n{_indented(lines)}\n}}\n"
        for name, lines in (
            ("Console", _console()),
            ("Judge", _judge()),
            ("Desk", _desk()),
            ("Board", _board()),
            ("Agent", _agent()),
        )
    )


def _console() -> Iterator[str]:
    yield from _interfaces([console.Hello, console.Change])
    yield "export type Message = Hello | Change;"


def _judge() -> Iterator[str]:
    told, said = get_args(judge.BackendMessage), get_args(judge.UiMessage)
    yield from _interfaces([*told, *said])
    yield f"export type Message = {_union(each.__name__ for each in told)};"
    yield f"export type UiMessage = {_union(each.__name__ for each in said)};"


def _desk() -> Iterator[str]:
    told, said = get_args(desk.Shown), get_args(desk.Wanted)
    yield from _interfaces([*told, *said, desk.Selection, desk.Handled])
    yield f"export type Message = {_union(each.__name__ for each in told)};"
    yield f"export type UiMessage = {_union(each.__name__ for each in said)};"


def _board() -> Iterator[str]:
    actions = {shape: None for each in shapes.ACTIONS.values() for shape in each}
    payloads: list[type[msgspec.Struct]] = [shapes.VizChange, shapes.FaultPayload, shapes.AnnouncePayload, BoardState]
    yield from _interfaces([*shapes.SPAWNS.values(), *actions, *shapes.EVENTS.values(), *payloads])
    yield BOARDS_OWN
    spawns = [_message(each, "spawn", "target", [shape]) for each, shape in shapes.SPAWNS.items()]
    updates = [
        _message(each, "update", "target", [*own, *([shapes.VizChange] if each == "viz" else [])])
        for each, own in shapes.ACTIONS.items()
    ]
    events = [_message(each, "event", "src", [shape]) for each, shape in shapes.EVENTS.items()]
    for name, union in (("Spawn", spawns), ("Update", updates), ("Event", events)):
        yield f"export type {name} =\n" + "\n".join(f"  | {each}" for each in union) + ";"
    yield "export type Message = Spawn | Update | Remove | Fault | Announce | ClearAll | BoardState;"
    yield "export type UiMessage = Event | Announce | Follow | Clear;"


def _agent() -> Iterator[str]:
    """Its messages, and the bodies of its HTTP."""
    told, said = get_args(events.ServerMessage), get_args(client_messages.ClientMessage)
    wanted = [each.body for each in ENDPOINTS if each.body is not None]
    answers = [struct for each in ENDPOINTS if each.answer is not None for struct in structs(each.answer)]
    brief = {struct for each in (*said, *wanted) for struct in structs(each)}
    yield from _interfaces(dict.fromkeys([*told, *said, *wanted, *answers, Detail]), brief)
    yield f"export type Message = {_union(each.__name__ for each in told)};"
    yield f"export type UiMessage = {_union(each.__name__ for each in said)};"


def _message(component: str, what: str, address: str, payloads: Iterable[Any]) -> str:
    payload = _union(each.__name__ for each in payloads)
    return f'{{ id?: number; component: "{component}"; type: "{what}"; {address}: string; payload: {payload} }}'


def _interfaces(
    roots: Iterable[type[msgspec.Struct]], brief: AbstractSet[type[msgspec.Struct]] = frozenset()
) -> Iterator[str]:
    """The interfaces of these structs and of all structs inside them, in the order in which they are found. `brief`:
    those whose fields may be left out if they have a default."""
    known: dict[str, inspect.StructType] = {}

    def walk(kind: inspect.Type) -> None:
        match kind:
            case inspect.StructType(cls=cls, fields=fields):
                if cls.__name__ in known:
                    assert known[cls.__name__].cls is cls, cls.__name__
                    return
                known[cls.__name__] = kind
                for field in fields:
                    walk(field.type)
            case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
                walk(item)
            case inspect.DictType(value_type=value):
                walk(value)
            case inspect.UnionType(types=types):
                for each in types:
                    walk(each)
            case inspect.Metadata(type=inner):
                walk(inner)

    for root in roots:
        walk(inspect.type_info(root))
    for name, struct in known.items():
        yield f"export interface {name} {{\n{_indented(_fields(struct, struct.cls in brief))}\n}}"


def _fields(struct: inspect.StructType, brief: bool) -> Iterator[str]:
    if struct.tag_field is not None:
        yield f"{struct.tag_field}: {json.dumps(struct.tag)};"
    for field in struct.fields:
        unset = field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT
        left_out = brief or unset or struct.cls.__struct_config__.omit_defaults
        optional = "?" if not field.required and left_out else ""
        yield f"{field.encode_name}{optional}: {_type(field.type)};"


def _type(kind: inspect.Type) -> str:
    match kind:
        case inspect.StructType(cls=cls):
            return str(cls.__name__)
        case inspect.LiteralType(values=values):
            return _union(json.dumps(each) for each in values)
        case inspect.UnionType(types=types):
            return _union(map(_type, types))
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            inner = _type(item)
            return f"({inner})[]" if "|" in inner else f"{inner}[]"
        case inspect.DictType(value_type=value):
            return f"Record<string, {_type(value)}>"
        case inspect.Metadata(type=inner):
            return _type(inner)
    return PLAIN[type(kind)]


def _union(parts: Iterable[str]) -> str:
    return " | ".join(dict.fromkeys(parts))


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"  {line}" if line else "" for each in lines for line in each.splitlines())


if __name__ == "__main__":
    FILE.write_text(whole())
