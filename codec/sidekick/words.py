"""The words that differ between E and D, in markdowns and textboxes. One table serves both directions."""

from typing import Any, NamedTuple

Fields = dict[str, Any]


class Words(NamedTuple):
    """The names of an action (none for a spawn) and its fields in E, and in D."""

    component: str
    action: str | None
    canonical: str | None
    fields: dict[str, str]
    """E's name of a field -> D's."""


TABLE = (
    Words("markdown", None, None, {"text": "initialSource"}),
    Words("markdown", "setText", "setSource", {"text": "source"}),
    Words("textbox", None, None, {"value": "initialValue"}),
)

BY_E = {(row.component, row.action): row for row in TABLE}
BY_D = {(row.component, row.canonical): row for row in TABLE}


def words_of_e(component: str, action: str | None = None) -> Words | None:
    return BY_E.get((component, action))


def renamed(fields: Fields, names: dict[str, str]) -> Fields | None:
    """The fields under their other names, in the same order; None if none is left to be renamed."""
    if not any(old in fields and new not in fields for old, new in names.items()):
        return None
    return {(names[name] if name in names and names[name] not in fields else name): fields[name] for name in fields}


def to_canonical(payload: Fields, words: Words | None) -> Fields | None:
    """A payload of E in D's words; None if it is the same in D."""
    if words is None:
        return None
    if words.action is None:
        return renamed(payload, words.fields)
    options = payload.get("options")
    named = renamed(options, words.fields) if isinstance(options, dict) else None
    return {**payload, "action": words.canonical, **({"options": named} if named else {})}


def to_e(component: str, action: str | None, payload: Fields) -> Fields | None:
    """A payload of D in E's words; None if it is the same in E."""
    words = BY_D.get((component, action))
    if words is None:
        return None
    names = {new: old for old, new in words.fields.items()}
    if words.action is None:
        return renamed(payload, names)
    options = payload.get("options")
    named = renamed(options, names) if isinstance(options, dict) else None
    return {**payload, "action": words.action, **({"options": named} if named else {})}
