"""Files as models write them without a diff: a text in place of another, or a whole new file.

The text that is replaced must stand in the file exactly once; if it stands nowhere, then as whole lines exactly once
but for white space. The file's encoding, mark and line ends stay; a line that is in both texts keeps its own.
"""

from bisect import bisect_right
from itertools import accumulate

from codec.agent.patches.indentation import indentation_between
from codec.agent.patches.patch import PatchRefused
from codec.agent.patches.places import MOST_PLACES, LinePlaces, loosened
from codec.agent.patches.text_lines import TextLines, read_lines, split_lines

_AGAIN = "Read the file again, and give the text exactly as it stands there."


def replaced(base: bytes, old: str, new: str) -> bytes:
    """Raises PatchRefused if it is not certain what shall be replaced."""
    file = read_lines(base)
    if file is None:
        raise PatchRefused("The file is no text, so no text can be replaced in it.")
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if not file.can_hold(new):
        raise PatchRefused(f"The file is read as {file.encoding}, and the new text has characters that it cannot hold.")
    if not old:
        if file.texts:
            raise PatchRefused("The text to be replaced is empty. Give some of the file's own lines.")
        return rewritten(base, new)
    if old == new:
        raise PatchRefused("The new text is the same as the old one.")
    view = "\n".join(file.texts) + ("\n" if file.ends and file.ends[-1] else "")
    place = view.find(old)
    if place < 0:
        return _loosely(file, view, old, new).to_bytes()
    places = [place]
    while (place := view.find(old, place + 1)) != -1 and len(places) <= MOST_PLACES:
        places.append(place)
    begins = [0, *accumulate(len(text) + 1 for text in file.texts)]
    lines = [bisect_right(begins, place) - 1 for place in places]
    if len(places) > 1:
        raise _several(lines, "")
    first, column = lines[0], places[0] - begins[lines[0]]
    end = places[0] + len(old)
    last = bisect_right(begins, end) - 1
    rest = file.texts[last][end - begins[last] :] if last < len(file.texts) else ""
    texts = (file.texts[first][:column] + new + rest).split("\n")
    if last == len(file.texts):
        if texts[-1]:
            return _with(file, first, last, texts, is_open=True).to_bytes()
        return _with(file, first, last, texts[:-1]).to_bytes()
    return _with(file, first, last + 1, texts).to_bytes()


def _with(file: TextLines, first: int, last: int, texts: list[str], *, is_open: bool = False) -> TextLines:
    """These lines in place of those, of which as many as are the same at both ends keep their ends."""
    was = list(file.texts[first:last])
    head = 0
    while head < min(len(was), len(texts)) and was[head] == texts[head]:
        head += 1
    tail = 0
    while tail < min(len(was), len(texts)) - head and was[-1 - tail] == texts[-1 - tail]:
        tail += 1
    a, b = first + head, last - tail
    middle = texts[head : len(texts) - tail]
    ends = [file.end_for(a, b, offset) for offset in range(len(middle))]
    if ends and b == len(file.texts) and (is_open or not file.ends[-1]):
        ends[-1] = ""
    return file.with_lines(
        [*file.texts[:a], *middle, *file.texts[b:]],
        [*file.ends[:a], *ends, *file.ends[b:]],
    )


def _loosely(file: TextLines, view: str, old: str, new: str) -> TextLines:
    if new.strip() and new in view:
        lines = [view.count("\n", 0, view.find(new))]
        raise PatchRefused(
            f"The old text is not in the file, but the new one is, at line {lines[0] + 1}. It seems to be done already."
        )
    wanted, _ = split_lines(old.strip("\n"), only_lf=True)
    added, _ = split_lines(new.strip("\n"), only_lf=True)
    if not any(line.strip() for line in wanted):
        raise PatchRefused(f"The file has no such white space. {_AGAIN}")
    loose = LinePlaces([loosened(line) for line in file.texts], [loosened(line) for line in wanted])
    places = loose.places(loose.word([loosened(line) for line in wanted]))
    if len(places) > 1:
        raise _several(list(places), " but for white space")
    if not places:
        missing = next(
            (line for line in wanted if line.strip() and not loose.places(loose.word([loosened(line)]))), None
        )
        what = "has its lines, but nowhere one after the other" if missing is None else f"has no line `{missing[:80]}`"
        raise PatchRefused(f"The text to be replaced is not in the file: it {what}. {_AGAIN}")
    first, last = places[0], places[0] + len(wanted)
    there = file.texts[first:last]
    kept = {loosened(line): line for line in there}
    gone, come = [line for line in wanted if line not in added], [line for line in added if line not in wanted]
    indentation = indentation_between(wanted, there, gone, come)
    if indentation is None:
        raise PatchRefused(
            f"The text stands at line {first + 1} but for white space, and the right indentation of the new one cannot "
            f"be told from that. {_AGAIN}"
        )
    texts = [kept[loosened(line)] if line in wanted else indentation(line) for line in added]
    return _with(file, first, last, texts)


def _several(lines: list[int], how: str) -> PatchRefused:
    count = f"more than {MOST_PLACES}" if len(lines) > MOST_PLACES else str(len(lines))
    shown = ", ".join(str(line + 1) for line in lines[:10])
    return PatchRefused(
        f"The text stands at {count} places{how} (from the lines {shown}{', ...' if len(lines) > 10 else ''}). "
        "Give more of the lines around the right one."
    )


def rewritten(base: bytes | None, text: str) -> bytes:
    """A whole new file from a model, in the encoding, with the mark and the line ends of the one before it. Raises
    PatchRefused if that cannot hold the text."""
    file = read_lines(base) if base else None
    if file is None:
        file = TextLines((), ())
    if not file.can_hold(text):
        raise PatchRefused(f"The file is read as {file.encoding}, and the new text has characters that it cannot hold.")
    end = file.usual_end
    if file.ends and end != "\n" and set(file.ends) <= {end, ""}:
        text = text.replace("\r\n", "\n").replace("\n", end)
    return file.mark + text.removeprefix("\ufeff" if file.mark else "").encode(file.encoding)
