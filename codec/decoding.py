"""What a decoder found wrong, in words that people use.

msgspec says "Expected `str` of length <= 100 - at `$.submitter`", in words of Python and of a path language. Whoever
wrote the JSON, or gave an option that became a part of it, knows neither. So such a text goes through here before users
see it. The sentence is made from the decoder's text alone, because what was decoded is often gone.
"""

import re

from codec.words import counted

_ERROR = re.compile(r"(?P<what>.*?)(?: - at (?P<key>`key` in )?`\$(?P<path>.*)`)?", re.DOTALL)
_LENGTH = re.compile(r"Expected `(?P<kind>[^`]*)` of length (?:(?P<how>[<>]=) )?(?P<bound>\d+)")
_AMOUNT = re.compile(r"Expected `(?P<kind>[^`]*)` (?P<how>[<>]=?) (?P<bound>-?[\d.e+]+)")
_KIND = re.compile(r"Expected `(?P<wanted>[^`]*)`(?:, got `(?P<got>[^`]*)`)?")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<field>.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<field>.*)`", re.DOTALL)
_NO_CHOICE = re.compile(r"Invalid (?:enum )?value (?P<value>.*)", re.DOTALL)

A_FRACTION = "a number with a fraction"
_KINDS = {
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


def fault(error: Exception) -> str:
    """A sentence without its full stop, which may begin with a capital or not. The whole is called "it"."""
    found = _ERROR.fullmatch(str(error))
    assert found is not None  # it matches everything
    what, path = found["what"], (found["path"] or "").removeprefix(".").replace("[...]", "")
    place = f"a name in {path or 'it'}" if found["key"] else path or "it"
    where = f" in {path}" if path else ""
    if match := _LENGTH.fullmatch(what):
        parts = counted(int(match["bound"]), _PARTS.get(match["kind"], "item"))
        return f"expected {place} to have {_LENGTHS[match['how']]} {parts}"
    if match := _AMOUNT.fullmatch(what):
        return f"expected {place} to be {_kinds(match['kind'])} {_AMOUNTS[match['how']]} {_number(match['bound'])}"
    if match := _KIND.fullmatch(what):
        got = match["got"] and (A_FRACTION if match["got"] == "float" else _kinds(match["got"]))
        got = f", and it is {got}" if got else ""
        return f"expected {place} to be {_kinds(match['wanted'])}{got}"
    if match := _UNKNOWN.fullmatch(what):
        return f"the field {match['field']!r} is not known{where}"
    if match := _MISSING.fullmatch(what):
        return f"the field {match['field']!r} is missing{where}"
    if match := _NO_CHOICE.fullmatch(what):
        return f"expected {place} to be something else than {match['value']}"
    if what == "Number out of range":
        return "a number in it is larger than can be read"
    said = re.sub("`([^`]*)`", lambda match: _kinds(match[1]), f"{what[:1].lower()}{what[1:]}")
    return f"{said}{where}"


def _kinds(types: str) -> str:
    return " or ".join(_KINDS.get(each, each) for each in types.split(" | "))


def _number(bound: str) -> str:
    return f"{float(bound):,.15g}"
