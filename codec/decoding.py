"""What a decoder found wrong, in words that people use.

msgspec says "Expected `str` of length <= 100 - at `$.submitter`", in words of Python and of a path language. Whoever
wrote the JSON, or gave an option that became a part of it, knows neither. So such a text goes through here before users
see it. The sentence is made from the decoder's text alone, because what was decoded is often gone.
"""

import re
from collections.abc import Mapping

from codec.words import counted

_ERROR = re.compile(r"(?P<what>.*?)(?: - at (?P<key>`key` in )?`\$(?P<path>.*)`)?", re.DOTALL)
_LENGTH = re.compile(r"Expected `(?P<kind>[^`]*)` of length (?:(?P<how>[<>]=) )?(?P<bound>\d+)")
_AMOUNT = re.compile(r"Expected `(?P<kind>[^`]*)` (?P<how>[<>]=?) (?P<bound>-?[\d.e+]+)")
KIND = re.compile(r"Expected `(?P<wanted>[^`]*)`(?:, got `(?P<got>[^`]*)`)?")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<field>.*)`", re.DOTALL)
MISSING = re.compile(r"Object missing required field `(?P<field>.*)`", re.DOTALL)
_NO_CHOICE = re.compile(r"Invalid (?:enum )?value (?P<value>.*)", re.DOTALL)

A_FRACTION = "a number with a fraction"
KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
    "array": "an array",
    "object": "an object",
}
_PARTS = {"str": "character", "array": "item", "object": "field"}
_LENGTHS = {"<=": "at most", ">=": "at least", None: "exactly"}
_AMOUNTS = {"<=": "of at most", ">=": "of at least", "<": "below", ">": "above"}


def parted(said: str) -> tuple[str, str, bool]:
    """What is wrong; where, as a path behind the `$`; and whether it is a key there, and not its value."""
    found = _ERROR.fullmatch(said)
    assert found is not None  # it matches everything
    return found["what"], found["path"] or "", bool(found["key"])


def fault(error: Exception) -> str:
    """A sentence without its full stop, which may begin with a capital or not. The whole is called "it"."""
    if isinstance(error, UnicodeDecodeError):
        return "a text in it is not in UTF-8"
    what, at, is_key = parted(str(error))
    path = at.removeprefix(".").replace("[...]", "")
    place = f"a name in {path or 'it'}" if is_key else path or "it"
    where = f" in {path}" if path else ""
    if match := _LENGTH.fullmatch(what):
        parts = counted(int(match["bound"]), _PARTS.get(match["kind"], "item"))
        return f"expected {place} to have {_LENGTHS[match['how']]} {parts}"
    if match := _AMOUNT.fullmatch(what):
        return f"expected {place} to be {kinds(match['kind'])} {_AMOUNTS[match['how']]} {_number(match['bound'])}"
    if match := KIND.fullmatch(what):
        got = match["got"] and (A_FRACTION if match["got"] == "float" else kinds(match["got"]))
        got = f", and it is {got}" if got else ""
        return f"expected {place} to be {kinds(match['wanted'])}{got}"
    if match := _UNKNOWN.fullmatch(what):
        return f"the field {match['field']!r} is not known{where}"
    if match := MISSING.fullmatch(what):
        return f"the field {match['field']!r} is missing{where}"
    if match := _NO_CHOICE.fullmatch(what):
        return f"expected {place} to be something else than {match['value']}"
    what = what.removeprefix("JSON is malformed: ")  # whoever asks says so in words of its own
    if what == "Number out of range":
        return "a number in it is larger than can be read"
    said = re.sub("`([^`]*)`", lambda match: kinds(match[1]), f"{what[:1].lower()}{what[1:]}")
    return f"{said}{where}"


def kinds(types: str, names: Mapping[str, str] = KINDS) -> str:
    return " or ".join(names.get(each, each) for each in types.split(" | "))


def _number(bound: str) -> str:
    return f"{float(bound):,.15g}"
