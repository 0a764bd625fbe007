"""A diff from one file to another, as git writes it."""

from collections.abc import Iterator, Sequence

from codec.agent.action_events import DiffHunk
from codec.agent.patches.applying import applied
from codec.agent.patches.comparing import LineChange, changes
from codec.agent.patches.diff_headers import NOWHERE, quoted
from codec.agent.patches.patch import FilePatch, MadeDiff
from codec.agent.patches.text_lines import MARK, TextLines, read_lines

CONTEXT = 3
_NO_NEWLINE = "\\ No newline at end of file\n"


def made_diff(path: str, before: bytes | None, after: bytes | None) -> MadeDiff:
    """None: there is no such file. Applying it to `before` gives `after`, unless it says that it is not exact."""
    if before == after:
        return MadeDiff(diff="")
    heading = [f"diff --git {quoted(f'a/{path}')} {quoted(f'b/{path}')}\n"]
    if before is None:
        heading.append("new file mode 100644\n")
    if after is None:
        heading.append("deleted file mode 100644\n")
    pair = _pair(before or b"", after or b"")
    if pair is None:
        return MadeDiff(diff=f"{''.join(heading)}Binary files {_sides(path, before, after)} differ\n", exact=False)
    old, new, is_odd = pair
    found = changes(old.raw, new.raw)
    hunks = tuple(_hunks(old, new, found))
    if hunks:
        one, other = _both(path, before, after)
        heading += [f"--- {one}\n", f"+++ {other}\n"]
    diff = MadeDiff(
        diff="".join(heading) + "".join(map(hunk_text, hunks)),
        hunks=hunks,
        added=sum(change.new_end - change.new for change in found),
        removed=sum(change.old_end - change.old for change in found),
    )
    if not is_odd:
        return diff
    patch = FilePatch(
        path=path, action="create" if before is None else "delete" if after is None else "modify", hunks=hunks
    )
    is_exact = applied(before, patch).data == after
    return MadeDiff(diff=diff.diff, hunks=hunks, added=diff.added, removed=diff.removed, exact=is_exact)


def hunk_text(hunk: DiffHunk) -> str:
    return f"@@ -{_range(hunk.old_start, hunk.old_lines)} +{_range(hunk.new_start, hunk.new_lines)} @@\n{hunk.content}"


def _range(start: int, lines: int) -> str:
    return str(start) if lines == 1 else f"{start},{lines}"


def _both(path: str, before: bytes | None, after: bytes | None) -> tuple[str, str]:
    tab = "\t" if " " in path else ""  # as git does, so that whoever reads it sees where the path ends
    one = NOWHERE if before is None else quoted(f"a/{path}") + tab
    return one, NOWHERE if after is None else quoted(f"b/{path}") + tab


def _sides(path: str, before: bytes | None, after: bytes | None) -> str:
    return " and ".join(side.rstrip("\t") for side in _both(path, before, after))


def _pair(before: bytes, after: bytes) -> tuple[TextLines, TextLines, bool] | None:
    """Both as lines, and whether they differ in more than lines. None: one of them is no text."""
    old, new = read_lines(before), read_lines(after)
    if old is None or new is None:
        return None
    is_odd = (old.encoding != new.encoding and bool(before)) or MARK in "".join((*old.texts[:1], *new.texts[:1]))
    is_odd = is_odd or (not before and new.encoding != "utf-8")
    only_lf = not (old.usual_end == "\r" and set(new.ends) <= {"\r", ""} and "\r" not in "".join(new.texts))
    if b"\r" in before or b"\r" in after:
        is_odd = is_odd or not only_lf or any("\r" in text for lines in (old, new) for text in lines.texts)
        is_odd = is_odd or "\r" in old.ends or "\r" in new.ends
    if old.mark != new.mark or is_odd:
        mark_is_text = old.mark != new.mark
        is_odd = is_odd or mark_is_text
        again = (read_lines(data, mark_is_text=mark_is_text, only_lf=only_lf) for data in (before, after))
        old, new = (lines or TextLines((), ()) for lines in again)
    return old, new, is_odd


def _hunks(old: TextLines, new: TextLines, found: Sequence[LineChange]) -> Iterator[DiffHunk]:
    group: list[LineChange] = []
    for change in found:
        if group and change.old - group[-1].old_end > 2 * CONTEXT:
            yield _hunk(old, new, group)
            group = []
        group.append(change)
    if group:
        yield _hunk(old, new, group)


def _hunk(old: TextLines, new: TextLines, group: Sequence[LineChange]) -> DiffHunk:
    begin = max(group[0].old - CONTEXT, 0)
    end = min(group[-1].old_end + CONTEXT, len(old.texts))
    new_begin = group[0].new - (group[0].old - begin)
    new_end = group[-1].new_end + (end - group[-1].old_end)
    body: list[str] = []
    at = begin
    for change in group:
        body += (_line(" ", old, number) for number in range(at, change.old))
        body += (_line("-", old, number) for number in range(change.old, change.old_end))
        body += (_line("+", new, number) for number in range(change.new, change.new_end))
        at = change.old_end
    body += (_line(" ", old, number) for number in range(at, end))
    return DiffHunk(
        old_start=begin + (end > begin),
        old_lines=end - begin,
        new_start=new_begin + (new_end > new_begin),
        new_lines=new_end - new_begin,
        content="".join(body),
    )


def _line(sign: str, lines: TextLines, number: int) -> str:
    end = lines.ends[number]
    if not end:
        return f"{sign}{lines.texts[number]}\n{_NO_NEWLINE}"
    carriage = "\r" if end == "\r\n" else ""
    return f"{sign}{lines.texts[number]}{carriage}\n"
