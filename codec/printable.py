"""Texts as a terminal may be given them."""

import json


def printable(text: str) -> str:
    """`text` with all characters escaped that would move a terminal's cursor or change its colours."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text)


def printable_json(document: str) -> str:
    """The same document on as many lines, with all those characters escaped as JSON escapes them: they stand in its
    texts only."""
    return "\n".join(_escaped(line) for line in document.split("\n"))


def _escaped(line: str) -> str:
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in line)
