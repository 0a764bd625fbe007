"""No line of a file is told twice in one message.

Several reasons may want the same lines: they are selected, an error stands in them, a search has found them. The first
material tells them; a later one tells only the lines that are still missing, or nothing. Lines are known by the numbers
that numbered() has put before them. Material without such lines (diagnostics, a terminal) stays as it is.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from actors.agent.budget import CUT
from codec.agent.material import Material

_SOURCE = re.compile(r"(.+):\d+(?:-\d+)?")
_NUMBERED = re.compile(r"(\d+)\t")


def without_doubles(materials: Iterable[Material], told: Sequence[Material] = ()) -> tuple[Material, ...]:
    kept = list[Material]()
    for each in materials:
        if (rest := still_missing(each, (*told, *kept))) is not None:
            kept.append(rest)
    return tuple(kept)


def still_missing(material: Material, told: Iterable[Material]) -> Material | None:
    """The lines that were not told yet; None if there are none."""
    path = _path(material)
    if path is None:
        return material
    known = {number for each in told if _path(each) == path for number, _ in _numbered(each.text)}
    lines = list(_numbered(material.text))
    rest = [(number, line) for number, line in lines if number not in known]
    if len(rest) == len(lines):
        return material
    if not any(line.partition("\t")[2].strip() for _, line in rest):
        return None
    first, last = rest[0][0], rest[-1][0]
    source = f"{path}:{first}" if first == last else f"{path}:{first}-{last}"
    return replace(material, source=source, text="\n".join(line for _, line in rest))


def _path(material: Material) -> str | None:
    found = _SOURCE.fullmatch(material.source)
    return None if found is None else found[1]


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    """A line that was cut (`cut_to`) does not count as told."""
    for line in text.split("\n"):
        number = _NUMBERED.match(line)
        if number is not None and CUT not in line:
            yield int(number[1]), line
