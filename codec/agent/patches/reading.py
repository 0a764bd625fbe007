"""A diff as models write it, read into the patches of its files.

Rules
  - Unified diffs, git's and others', of one file or several, also in Markdown's fences and between prose. What stands
    outside of fences counts only if no fence holds a diff.
  - A hunk is as long as its header says if that leads to where something else begins. Else its header is wrong, and
    it reaches to the next header. Empty lines are context whose space was lost; those at a hunk's end are
    none, unless the header counts them.
  - Nothing that looks like a change is left out: a line with a sign that belongs to no hunk makes the diff unreadable.
  - If a header ends with \\r, the whole diff came with CRLF, and they are taken off. Else a \\r belongs to its line.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from codec.agent.action_events import DiffHunk
from codec.agent.patches.diff_headers import git_paths, header_path, one_path, permission_bits
from codec.agent.patches.patch import FilePatch, PatchUnreadable

LONGEST_DIFF = 16_000_000
MOST_HUNKS = 50_000

_NUMBERS = re.compile(r"@@\s*-(\d{1,9})(?:,(\d{1,9}))?\s+\+(\d{1,9})(?:,(\d{1,9}))?\s*(?:@@|$)")
_FENCE = re.compile(r"(`{3,}|~{3,})\s*([\w+-]*)\s*")
_BEGINS = ("diff --git ", "--- ", "+++ ", "@@")
_OTHER_FORMATS = ("*** Begin Patch", "*** Update File:", "*** Add File:", "<<<<<<<")
_SHOULD = "Write a unified diff: `--- a/PATH`, `+++ b/PATH`, then hunks after `@@ -LINE,COUNT +LINE,COUNT @@`."


def parse_diff(text: str, *, path: str | None = None) -> Sequence[FilePatch]:
    """The patches of all files, in their order. Hunks before any file's header are for `path`. Raises PatchUnreadable.

    A hunk whose header gives no line has old_start 0."""
    if len(text) > LONGEST_DIFF:
        raise PatchUnreadable(f"The diff has {len(text):,} characters; {LONGEST_DIFF:,} are read. Send it in parts.")
    if "\0" in text:
        raise PatchUnreadable("The diff holds a NUL character. Only text can be changed by a diff.")
    lines = text.removesuffix("\n").split("\n")
    if next((line for line in lines if line.startswith(_BEGINS)), "").endswith("\r"):
        lines = [line.removesuffix("\r") for line in lines]
    if not any(line.startswith(("--- ", "+++ ")) for line in lines):
        other = next((word for word in _OTHER_FORMATS if any(line.startswith(word) for line in lines)), None)
        if other:
            raise PatchUnreadable(f"This is no unified diff: it has `{other}`. {_SHOULD}")
    sections: list[_Section] = []
    for first, last in _blocks(lines):
        sections += _Block(lines, first, last, path).sections()
    patches: dict[str, FilePatch] = {}
    for section in sections:
        patch = section.patch()
        known = patches.get(patch.path)
        if known is None:
            patches[patch.path] = patch
        elif known.action == patch.action == "modify" and known.mode == patch.mode:
            patches[patch.path] = FilePatch(path=patch.path, hunks=known.hunks + patch.hunks, mode=patch.mode)
        else:
            raise PatchUnreadable(
                f'The diff speaks of "{patch.path[:200]}" twice, and one of them creates or deletes it. '
                "Write one part for each file."
            )
    if not patches:
        raise PatchUnreadable(f"There is no diff in it. {_SHOULD}")
    return tuple(patches.values())


def _blocks(lines: Sequence[str]) -> Sequence[tuple[int, int]]:
    """Where diffs can be: what is in fences, or all of it."""
    fenced = []
    opened, fence = 0, ""
    for number, line in enumerate(lines):
        if line[:1] not in ("`", "~") or not (found := _FENCE.fullmatch(line)):
            continue
        if not fence:
            opened, fence = number + 1, found[1]
        elif found[1].startswith(fence) and not found[2]:
            fenced.append((opened, number))
            fence = ""
    if fence:
        fenced.append((opened, len(lines)))
    with_diffs = [(a, b) for a, b in fenced if any(line.startswith(_BEGINS) for line in lines[a:b])]
    return with_diffs or [(0, len(lines))]


@dataclass
class _Section:
    """What is said of one file."""

    line: int
    old: str | None = None
    new: str | None = None
    paths: tuple[str, str] | None = None
    """After `diff --git`."""
    created: bool = False
    deleted: bool = False
    mode: int | None = None
    has_mode: bool = False
    hunks: list[DiffHunk] = field(default_factory=list)

    def patch(self) -> FilePatch:
        old, new = self.old, self.new
        if old is None and new is None and self.paths:
            old, new = self.paths
            old, new = ("/dev/null" if self.created else old), ("/dev/null" if self.deleted else new)
        path, action = one_path(old, new)
        hunks = tuple(self.hunks)
        if self.created or (
            action == "modify" and len(hunks) == 1 and not hunks[0].old_lines and not hunks[0].old_start
        ):
            action = "create"
        if self.deleted:
            action = "delete"
        shown = f'"{path[:200]}"'
        if not hunks and not (self.created or self.deleted):
            if self.has_mode:
                raise PatchUnreadable(f"The diff only changes the mode of {shown}. A diff can change only its lines.")
            raise PatchUnreadable(f"The diff has no hunks for {shown}. {_SHOULD}")
        if action == "create" and any(hunk.old_lines for hunk in hunks):
            raise PatchUnreadable(f"The diff creates {shown}, so each of its lines has to begin with +.")
        if action == "delete" and any(hunk.new_lines for hunk in hunks):
            raise PatchUnreadable(f"The diff deletes {shown}, so each of its lines has to begin with -.")
        return FilePatch(path=path, action=action, hunks=hunks, mode=self.mode)


@dataclass
class _Block:
    lines: Sequence[str]
    at: int
    end: int
    path: str | None

    def sections(self) -> Iterator[_Section]:
        section: _Section | None = None
        if self.path is not None and self._first_header() == "@@":
            section = _Section(self.at, old=self.path, new=self.path)
        hunks = 0
        while self.at < self.end:
            line = self.lines[self.at]
            if self._is_header(self.at):
                if section is None or section.hunks or section.old or section.new or line.startswith("diff --git "):
                    if section is not None:
                        yield section
                    section = _Section(self.at)
                self._read_header(section)
            elif line.startswith("@@"):
                if section is None:
                    raise PatchUnreadable(
                        f"Line {self.at + 1} begins a hunk, but no line before it names the file. "
                        "Write `--- a/PATH` and `+++ b/PATH` before its hunks."
                    )
                section.hunks.append(self._read_hunk())
                hunks += 1
                if hunks > MOST_HUNKS:
                    raise PatchUnreadable(f"The diff has more than {MOST_HUNKS:,} hunks. Send it in parts.")
            else:
                self._read_other(line, section)
                self.at += 1
        if section is not None:
            yield section

    def _first_header(self) -> str | None:
        for at in range(self.at, self.end):
            if self._is_header(at):
                return "---"
            if self.lines[at].startswith("@@"):
                return "@@"
        return None

    # -- headers

    def _line(self, at: int) -> str:
        return self.lines[at] if at < self.end else ""

    def _is_header(self, at: int) -> bool:
        """Whether a file begins here, outside of a hunk, or after one whose length is not known."""
        line, following = self.lines[at], self._line(at + 1)
        if line.startswith("--- "):
            return following.startswith(("@@", "+++ "))
        if line.startswith("+++ "):
            return following.startswith("@@")
        return line.startswith("diff --git ")

    def _ends_hunk(self, at: int) -> bool:
        """Whether what stands here can be no part of a hunk. A removed line may begin with `-- `, so a header has to be
        followed by a hunk, or by what follows when there is none."""
        line = self.lines[at]
        if line.startswith("--- "):
            following = self._line(at + 1)
            return following.startswith("@@") or (following.startswith("+++ ") and self._line(at + 2).startswith("@@"))
        if line.startswith("-- ") or line == "--":
            return line.strip() == "--" and re.fullmatch(r"\d+\.[\w.-]+", self._line(at + 1)) is not None
        if line.startswith("+++ "):
            return self._line(at + 1).startswith("@@")
        return line.startswith(("@@", "diff --git ", "Index: ", "```", "~~~"))

    def _read_header(self, section: _Section) -> None:
        line = self.lines[self.at]
        if line.startswith("diff --git "):
            section.paths = git_paths(line.removeprefix("diff --git "))
            self.at += 1
            return
        if line.startswith("--- "):
            section.old = header_path(line[4:])
            self.at += 1
            line = self._line(self.at)
        if line.startswith("+++ "):
            section.new = header_path(line[4:])
            self.at += 1

    def _read_other(self, line: str, section: _Section | None) -> None:
        """What is neither a file's header nor a hunk."""
        if line.startswith(("rename ", "copy ")) and section and not section.hunks:
            raise PatchUnreadable(
                f"Line {self.at + 1} renames or copies a file. A file is not renamed by a diff: "
                "delete the old one, and create the new one with all of its lines."
            )
        if line.startswith("GIT binary patch") or (line.startswith("Binary files ") and line.endswith(" differ")):
            raise PatchUnreadable(f"Line {self.at + 1}: the file is binary. Only text can be changed by a diff.")
        if section is None:
            return
        if not section.hunks and (section.paths or section.old or section.new):
            words = line.split()
            if line.startswith("new file mode ") and len(words) == 4:
                section.created, bits = True, permission_bits(words[3])
                section.mode = bits if bits == 0o755 else None
            elif line.startswith("deleted file mode "):
                section.deleted = True
            elif line.startswith("new mode ") and len(words) == 3:
                section.has_mode, section.mode = True, permission_bits(words[2])
        if line[:1] in ("+", "-", "@") and line != "---" and not self._ends_hunk(self.at):
            self._refuse(self.at, "belongs to no hunk. Begin each hunk with `@@ -LINE,COUNT +LINE,COUNT @@`.")

    # -- hunks

    def _read_hunk(self) -> DiffHunk:
        header = self.at
        line = self.lines[header]
        if line.startswith("@@@"):
            raise PatchUnreadable(f"Line {header + 1} is of a diff of a merge. Write a diff from one file to another.")
        numbers = _NUMBERS.match(line)
        self.at += 1
        counts = (int(numbers[2] or 1), int(numbers[4] or 1)) if numbers else None
        if numbers and numbers[2] == "0":
            counts = (0, int(numbers[4] or 1))
        last = self._counted(*counts) if counts else None
        if last is None:
            last = self._to_next_header(counts)
        body = [line or " " for line in self.lines[self.at : last]]
        while body and body[0].startswith("\\"):
            body.pop(0)
        self.at = last
        if not body:
            self._refuse(header, "begins a hunk that has no lines.")
        old = sum(line[0] in " -" for line in body)
        new = sum(line[0] in " +" for line in body)
        return DiffHunk(
            old_start=int(numbers[1]) if numbers else 0,
            old_lines=old,
            new_start=int(numbers[3]) if numbers else 0,
            new_lines=new,
            content="".join(f"{line}\n" for line in body),
        )

    def _counted(self, old: int, new: int) -> int | None:
        """Where the hunk ends if its header is right. None: it is not."""
        at = self.at
        while old or new:
            sign = self.lines[at][:1] if at < self.end else None
            if sign in ("", " "):
                old, new = old - 1, new - 1
            elif sign == "-":
                old -= 1
            elif sign == "+":
                new -= 1
            elif sign != "\\":
                return None
            if old < 0 or new < 0:
                return None
            at += 1
        if self._line(at).startswith("\\"):
            at += 1
        following = at
        while following < self.end and not self.lines[following].strip("\r"):
            following += 1
        if following == self.end or self._ends_hunk(following):
            return at
        return None if self.lines[following][0] in " \t+-\\" else at

    def _to_next_header(self, counts: tuple[int, int] | None) -> int:
        at = self.at
        while at < self.end and not self._ends_hunk(at):
            if self.lines[at][:1] not in ("", " ", "+", "-", "\\"):
                self._refuse(at, "begins with neither a space nor + nor -. Begin each line of a hunk with one of them.")
            at += 1
        last = at
        while last > self.at and not self.lines[last - 1]:
            last -= 1
        if counts:
            old = sum(self.lines[each][:1] in ("", " ", "-") for each in range(self.at, last))
            new = sum(self.lines[each][:1] in ("", " ", "+") for each in range(self.at, last))
            missing = counts[0] - old
            if missing == counts[1] - new and 0 < missing <= at - last:
                last += missing
        return last

    def _refuse(self, at: int, what: str) -> NoReturn:
        line = self.lines[at]
        shown = line if len(line) <= 60 else f"{line[:60]}…"
        raise PatchUnreadable(f"Line {at + 1} of the diff, `{shown}`, {what}")
