"""Secrets in a line of markup: <password>x</password>, password="x", <add key="DB_PASSWORD" value="x"/>.

In files of settings (XML by their names) whatever is given to a secret's name is withheld, unless it is a word that a
form would show. Elsewhere markup stands among code, and only what looks like no word is withheld.
"""

import re

from codec.agent.secret_values import is_literal, is_paired
from codec.redaction import BLANK

_ELEMENT = re.compile(
    r"<(?P<name>[A-Za-z_][\w.:-]{1,80})(?P<attributes>(?:\s[^<>]{0,300})?)>(?P<value>[^<>\n]{1,500})</"
)
_NAMED_ELEMENT = re.compile(
    r"<(?P<tag>[A-Za-z_][\w.:-]{0,80})\s[^<>]{0,200}?\b(?:name|key|id)=[\"'](?P<name>[\w.:/-]{2,80})[\"'][^<>/]{0,200}>"
    r"(?P<value>[^<>\n]{1,500})</"
)
_ATTRIBUTE = re.compile(r"(?<=\s)(?P<name>[A-Za-z_][\w.:-]{1,80})=[\"'](?P<value>[^\"'<>\n]{1,500})(?=[\"'])")
_SETTINGS = (".xml", ".config", ".csproj", ".props", ".targets", ".pubxml", ".plist", ".jelly", ".wsdd")


def is_markup_of_settings(path: str) -> bool:
    return path.lower().endswith(_SETTINGS)


def markup_withheld(line: str, *, of_settings: bool) -> str:
    def element(found: re.Match[str]) -> str:
        name, value = found["name"].rpartition(":")[2], found["value"]
        shown = found.groupdict().get("tag") == "string"  # what an app for Android shows
        if not (is_paired(name, value) if of_settings and not shown else is_literal(name, _word(value))):
            return found[0]
        return _blanked(found)

    line = _NAMED_ELEMENT.sub(element, _ELEMENT.sub(element, line))
    if of_settings:
        line = _ATTRIBUTE.sub(_attribute, line)
    return line


def _attribute(found: re.Match[str]) -> str:
    return _blanked(found) if is_paired(found["name"], found["value"]) else found[0]


def _word(value: str) -> str:
    """Nothing, if it is a sentence."""
    value = value.strip()
    return value if " " not in value else ""


def _blanked(found: re.Match[str]) -> str:
    return found[0][: found.start("value") - found.start()] + BLANK + found[0][found.end("value") - found.start() :]
