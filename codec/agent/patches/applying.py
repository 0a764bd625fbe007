"""A patch onto a file: each hunk is put where the ladder says, or refused. What no hunk touches stays byte for byte.

Rules
  - The file's encoding, mark and line ends stay. If the old lines of a hunk have the very ends of the file's, its
    new lines have those that it gives; else each takes that of the line whose place it takes, or of the one above.
  - A missing newline at the file's end stays missing, unless the hunk speaks of it (`\\ No newline at end of file`).
  - Two hunks that change the same lines: the second one is refused, unless it is the first once more.
"""

from bisect import bisect_left, insort
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from codec.agent.action_events import HunkOutcome
from codec.agent.patches.hunk_lines import HunkLines, hunk_lines
from codec.agent.patches.ladder import HunkSeat, Ladder
from codec.agent.patches.patch import Applied, FilePatch, PatchRefused
from codec.agent.patches.text_lines import MARK, TextLines, read_lines


def applied(base: bytes | None, patch: FilePatch, *, only: Collection[int] | None = None) -> Applied:
    """`base`: the file as it is; None if there is none. `only`: the hunks that are wanted, counted from 0."""
    hunks = [hunk_lines(hunk) for hunk in patch.hunks]
    chosen = {number: hunk for number, hunk in enumerate(hunks) if only is None or number in only}
    if hunks and not chosen:
        return Applied(base, _all_said(patch, chosen, "rejected", ""))
    try:
        match patch.action:
            case "create" if base is not None and _has_lines(base):
                return _created_again(base, patch, chosen)
            case "delete" if base is None:
                return Applied(None, _all_said(patch, chosen, "already", "There is no such file."))
            case "modify" if base is None and any(hunk.old for hunk in chosen.values()):
                raise PatchRefused("There is no such file. To create it, send a diff from /dev/null, or write it.")
        return _changed(base or b"", patch, chosen)
    except PatchRefused as refusal:
        return Applied(base, _all_said(patch, chosen, "refused", str(refusal)))


def _all_said(patch: FilePatch, chosen: Collection[int], outcome: str, reason: str) -> tuple[HunkOutcome, ...]:
    return tuple(
        HunkOutcome(index=number, outcome=outcome, reason=reason)  # type: ignore[arg-type]
        if number in chosen or not patch.hunks
        else HunkOutcome(index=number, outcome="rejected")
        for number in range(max(len(patch.hunks), 1))
    )


def _has_lines(base: bytes) -> bool:
    file = read_lines(base)
    return file is None or bool(file.texts)


def _created_again(base: bytes, patch: FilePatch, chosen: dict[int, HunkLines]) -> Applied:
    wanted = _changed(b"", patch, chosen)
    if wanted.data == base:
        return Applied(base, _all_said(patch, chosen, "already", "The file is so already."))
    raise PatchRefused("The file exists already. Send a diff of what shall change in it.")


class _Edit(Struct, frozen=True):
    """Lines that take the place of others."""

    first: int
    last: int
    texts: tuple[str, ...]
    ends: tuple[str, ...]


def _changed(base: bytes, patch: FilePatch, chosen: dict[int, HunkLines]) -> Applied:
    asked = [text for hunk in chosen.values() for text in hunk.texts]
    file = read_lines(
        base,
        mark_is_text=any(text.startswith(MARK) for text in asked),
        only_lf=b"\r" in base and any("\r" in text for text in asked),
    )
    if file is None:
        raise PatchRefused("The file is no text, so no diff can be applied to it.")
    ladder = Ladder(file.texts, chosen)
    ladder.climb()
    taken: dict[int, list[_Edit]] = {}
    outcomes: dict[int, HunkOutcome] = {}
    for number, seat in sorted(ladder.seats.items()):
        if not all(map(file.can_hold, chosen[number].added)):
            ladder.refused[number] = (
                f"The file is read as {file.encoding}, and its new lines have characters that it cannot hold."
            )
            continue
        found = () if seat.rung == "already" else _edits(file, chosen[number], seat)
        edits = [edit for edit in found if not _is_idle(file, edit)]
        if edits:
            taken[number] = edits
        else:
            reason = seat.reason or "It changes nothing."
            outcomes[number] = HunkOutcome(index=number, outcome="already", line=seat.place + 1, reason=reason)
    _drop_overlaps(taken, ladder, outcomes)
    lines = _rewritten(file, taken)
    outcomes |= _placed(taken, ladder)
    for number, reason in ladder.refused.items():
        outcomes[number] = HunkOutcome(index=number, outcome="refused", reason=reason)
    said = tuple(
        outcomes.get(number, HunkOutcome(index=number, outcome="rejected")) for number in range(len(patch.hunks))
    )
    if patch.action == "delete":
        return _deleted(base, lines, patch, said)
    return Applied(lines.to_bytes() if taken else base, said)


def _deleted(base: bytes, lines: TextLines, patch: FilePatch, said: tuple[HunkOutcome, ...]) -> Applied:
    if not lines.texts and not any(each.outcome == "refused" for each in said):
        return Applied(None, said or (HunkOutcome(index=0, outcome="applied"),))
    reason = "The diff deletes the file, but these are not all of its lines. Read the file again."
    return Applied(base, _all_said(patch, range(len(said)), "refused", reason))


def _edits(file: TextLines, hunk: HunkLines, seat: HunkSeat) -> list[_Edit]:
    """What the hunk changes, at its place."""
    is_literal = _has_ends_of(file, hunk, seat)
    found = []
    place, at = seat.place, 0
    signs = hunk.signs
    while at < len(signs):
        if signs[at] == " ":
            place, at = place + 1, at + 1
            continue
        first, begin = place, at
        while at < len(signs) and signs[at] != " ":
            place, at = place + (signs[at] == "-"), at + 1
        last = place
        if seat.core:
            first, last = seat.core
        added = [number for number in range(begin, at) if signs[number] == "+"]
        texts = [hunk.texts[number] for number in added]
        if seat.indentation:
            texts = [seat.indentation(text) for text in texts]
        ends = [
            (is_literal and hunk.ends[number]) or file.end_for(first, last, offset)
            for offset, number in enumerate(added)
        ]
        if ends and last == len(file.texts):
            is_missing = not hunk.ends[added[-1]] if hunk.is_marked else bool(file.ends) and not file.ends[-1]
            if is_missing:
                ends[-1] = ""
        found.append(_Edit(first, last, tuple(texts), tuple(ends)))
    return found


def _has_ends_of(file: TextLines, hunk: HunkLines, seat: HunkSeat) -> bool:
    if seat.rung in ("loose", "merged"):
        return False
    there = file.ends[seat.place : seat.place + len(hunk.old)]
    pairs = [(mine, theirs) for mine, theirs in zip(hunk.old_ends, there, strict=True) if mine and theirs]
    tells = bool(pairs) or hunk.is_marked or not any(file.ends)
    return tells and all(mine == theirs for mine, theirs in pairs)


def _is_idle(file: TextLines, edit: _Edit) -> bool:
    first, last = edit.first, edit.last
    return tuple(file.texts[first:last]) == edit.texts and tuple(file.ends[first:last]) == edit.ends


def _drop_overlaps(taken: dict[int, list[_Edit]], ladder: Ladder, outcomes: dict[int, HunkOutcome]) -> None:
    spans: list[tuple[int, int, int]] = []
    for number in list(taken):
        edits = taken[number]
        first, last = edits[0].first, edits[-1].last
        at = bisect_left(spans, (first, last, number))
        for a, b, other in spans[max(at - 2, 0) : at + 2]:
            if (a < last and first < b) or a == b == first == last:
                if taken[other] == edits:
                    reason = f"Hunk {other + 1} does the same."
                    outcomes[number] = HunkOutcome(index=number, outcome="already", line=first + 1, reason=reason)
                else:
                    ladder.refused[number] = f"It changes the same lines as hunk {other + 1}. Make one hunk of them."
                del taken[number]
                break
        else:
            insort(spans, (first, last, number))


def _in_order(taken: Mapping[int, Sequence[_Edit]]) -> list[tuple[_Edit, int]]:
    return sorted(
        ((edit, number) for number, edits in taken.items() for edit in edits),
        key=lambda each: (each[0].first, each[0].last),
    )


def _rewritten(file: TextLines, taken: Mapping[int, Sequence[_Edit]]) -> TextLines:
    texts: list[str] = []
    ends: list[str] = []
    at = 0
    for edit, _ in _in_order(taken):
        texts += file.texts[at : edit.first]
        texts += edit.texts
        ends += file.ends[at : edit.first]
        ends += edit.ends
        at = edit.last
    texts += file.texts[at:]
    ends += file.ends[at:]
    return file.with_lines(texts, ends)


def _placed(taken: Mapping[int, Sequence[_Edit]], ladder: Ladder) -> dict[int, HunkOutcome]:
    """Where in the new file each hunk is."""
    found: dict[int, HunkOutcome] = {}
    shift = 0
    for edit, number in _in_order(taken):
        seat = ladder.seats[number]
        if number not in found:
            line = edit.first + shift + 1
            found[number] = HunkOutcome(index=number, outcome=seat.rung, line=line, reason=seat.reason)
        shift += len(edit.texts) - (edit.last - edit.first)
    return found
