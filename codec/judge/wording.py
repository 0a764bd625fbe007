"""Describes a value, for the sentences that refuse it."""

import json
from typing import Any

from codec.judge.texts import whole
from codec.words import kind

LONGEST = 60


def shown(value: Any) -> str:
    """The value as it would stand in JSON if it is short and simple, otherwise its kind."""
    if isinstance(value, list) and 0 < len(value) <= 5 and not any(isinstance(item, list | dict) for item in value):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, list | dict):
        return kind(value)
    text = json.dumps(whole(value), ensure_ascii=False) if isinstance(value, str) else json.dumps(value)
    text = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
