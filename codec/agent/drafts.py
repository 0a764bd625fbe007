"""What a call of a tool makes of files: for each file a draft, with the file as it is, as it is to be, and the diff.

Whatever a model writes (a diff, texts to be replaced, a whole file), people and clients are shown our own diff of the
whole outcome, made for the file as it is now. So what is approved is what is done, hunk for hunk, however well the
model's own diff fitted.

Rules
  - Hunks and edits that do not fit are left out and reported; if none fits, the call fails.
  - A model sees *** in the place of a secret. A draft that would replace or remove a line with a secret in it, or that
    would write such a line down with its ***, is refused: it would destroy what the model has not seen.
  - A file that is written anew keeps its encoding, its mark and its line ends.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal

from msgspec import Struct

from codec.agent.action_events import DiffHunk
from codec.agent.file_texts import decoded
from codec.agent.patches import FilePatch, MadeDiff, PatchRefused, applied, made_diff, parse_diff, replaced
from codec.agent.withheld import withheld
from codec.redaction import BLANK
from codec.words import counted

FileAction = Literal["create", "modify", "delete"]


class DraftRefused(Exception):
    """Nothing can be made of it. The text tells the model how to do better."""


class Made(Struct, frozen=True):
    """What becomes of one file. `after` None: it is deleted."""

    after: bytes | None
    notes: tuple[str, ...] = ()
    """Sentences about what did not fit, or fitted elsewhere."""


class FileWish(Struct, frozen=True):
    """What a call wants of one file; `make` gets it as it is, and raises DraftRefused."""

    path: str
    make: Callable[[bytes | None], Made]
    deletes: bool = False


class Draft(Struct, frozen=True):
    path: str
    base: bytes | None
    after: bytes | None
    made: MadeDiff
    notes: tuple[str, ...] = ()

    @property
    def action(self) -> FileAction:
        return "create" if self.base is None else "delete" if self.after is None else "modify"

    @property
    def changed_lines(self) -> int:
        return self.made.added + self.made.removed


def draft(wish: FileWish, base: bytes | None) -> Draft:
    """Raises DraftRefused."""
    made = wish.make(base)
    if made.after == base:
        why = " ".join(made.notes) or "It is so already."
        raise DraftRefused(f"Nothing would change in {wish.path}. {why}")
    diff = made_diff(wish.path, base, made.after)
    if made.after is not None and base is not None:
        refuse_lost_secrets(wish.path, base, diff.hunks)
    return Draft(wish.path, base, made.after, diff, made.notes)


# -- what each tool wants


def by_diff(text: str) -> list[FileWish]:
    """Raises PatchUnreadable, also if there is no diff in it."""
    return [FileWish(patch.path, partial(_patched, patch), patch.action == "delete") for patch in parse_diff(text)]


def by_edits(edits: Iterable[tuple[str, str, str]]) -> list[FileWish]:
    """Each is a path, the old text and the new one."""
    of: dict[str, list[tuple[str, str]]] = {}
    for path, old, new in edits:
        of.setdefault(path, []).append((old, new))
    return [FileWish(path, partial(_edited, path, texts)) for path, texts in of.items()]


def by_content(path: str, content: str) -> list[FileWish]:
    return [FileWish(path, lambda base: Made(written_anew(path, base, content)))]


def by_deletion(path: str) -> list[FileWish]:
    def gone(base: bytes | None) -> Made:
        if base is None:
            raise DraftRefused(f"There is no file {path} in the workspace.")
        return Made(None)

    return [FileWish(path, gone, deletes=True)]


def _patched(patch: FilePatch, base: bytes | None) -> Made:
    try:
        found = applied(base, patch)
    except PatchRefused as error:
        raise DraftRefused(f"{patch.path}: {error}") from None
    notes = list[str]()
    for outcome in found.outcomes:
        name = f"Hunk {outcome.index + 1} of {patch.path}"
        match outcome.outcome:
            case "refused":
                notes.append(f"{name} was left out: {outcome.reason}")
            case "already":
                notes.append(f"{name} was left out: it is in the file already.")
            case "moved" | "loose":
                notes.append(f"{name} fitted at line {outcome.line}.")
    if found.outcomes and all(each.outcome in ("refused", "already") for each in found.outcomes):
        raise DraftRefused(" ".join(notes))
    return Made(found.data, tuple(notes))


def _edited(path: str, texts: Sequence[tuple[str, str]], base: bytes | None) -> Made:
    data, notes = base, list[str]()
    for number, (old, new) in enumerate(texts, 1):
        try:
            data = _replaced(path, data, old, new)
        except (PatchRefused, DraftRefused) as error:
            hint = f" {BLANK} stands for a text that you were not shown." if BLANK in old else ""
            notes.append(f"Edit {number} of {path} was left out: {error}{hint}")
    if len(notes) == len(texts):
        raise DraftRefused(" ".join(notes))
    return Made(data, tuple(notes))


def _replaced(path: str, data: bytes | None, old: str, new: str) -> bytes:
    if data is None:
        if old:
            raise DraftRefused(f"There is no file {path}. To make it, leave `old` empty.")
        return new.encode()
    if not old:
        if data:
            raise DraftRefused("`old` is empty, and the file is not. Say which text is to be replaced.")
        return new.encode()
    return replaced(data, old, new)


def written_anew(path: str, base: bytes | None, content: str) -> bytes:
    """The content as this file has texts. Raises DraftRefused."""
    if "\0" in content:
        raise DraftRefused(f"The content of {path} has a NUL in it. Only text can be written.")
    if not base:
        return content.encode()
    found = decoded(base)
    if found is None:
        raise DraftRefused(f"{path} is no text, and is not replaced by one.")
    text, encoding = found
    mark = base[: len(base) - len(text.encode(encoding))]
    if "\r\n" in text and "\n" not in text.replace("\r\n", ""):
        content = content.replace("\r\n", "\n").replace("\n", "\r\n")
    try:
        return mark + content.removeprefix("\ufeff" if mark else "").encode(encoding)
    except UnicodeEncodeError as error:
        odd = error.object[error.start]
        raise DraftRefused(f"{path} is written in {encoding}, which has no {odd!r}.") from None


# -- secrets


def refuse_lost_secrets(path: str, base: bytes, hunks: Iterable[DiffHunk]) -> None:
    """Raises DraftRefused if these hunks touch what a model is not shown."""
    found = decoded(base)
    if found is None:
        return
    lines = found[0].split("\n")
    hidden = {
        number: shown
        for number, (line, shown) in enumerate(zip(lines, withheld(found[0], path).split("\n"), strict=False), 1)
        if line != shown
    }
    if not hidden:
        return
    blanks = {shown.strip() for shown in hidden.values()}
    for hunk in hunks:
        number = hunk.old_start
        for line in hunk.content.split("\n"):
            if line.startswith("-"):
                if number in hidden:
                    raise DraftRefused(
                        f"Line {number} of {path} holds a secret that you were not shown, and this would remove it. "
                        "Change the file around it, and leave that line to the user."
                    )
                number += 1
            elif line.startswith("+"):
                if BLANK in line and line[1:].strip() in blanks:
                    raise DraftRefused(
                        f"This would write {BLANK} into {path} in the place of a secret that you were not shown. "
                        "Leave that line as it is."
                    )
            elif line.startswith(" "):
                number += 1


# -- what is told of it


def changed_places(hunks: Sequence[DiffHunk], most: int = 12) -> str:
    """The lines that have changed, as they are counted now."""
    runs = list[tuple[int, int]]()
    for hunk in hunks:
        number, goes_on = max(hunk.new_start, 1), False
        for line in hunk.content.split("\n"):
            sign = line[:1]
            if sign in ("+", "-"):
                first, last = runs.pop() if goes_on else (number, 0)
                runs.append((first, number if sign == "+" else last))
            goes_on = sign in ("+", "-") or (goes_on and sign == "\\")
            number += sign in ("+", " ")
    places = [f"{first}" if last <= first else f"{first}-{last}" for first, last in runs]
    more = f" and {counted(len(places) - most, 'place')} more" if len(places) > most else ""
    return ", ".join(places[:most]) + more


def lines_of(data: bytes) -> int:
    found = decoded(data)
    text = "" if found is None else found[0]
    return text.count("\n") + (bool(text) and not text.endswith("\n"))
