"""A file as lines, from which its bytes can be made again.

Rules
  - A line is what stands before a \\n; a \\r before it belongs to the line's end. Only if a file has no \\n at all, its
    lines end with \\r. Whatever else Unicode takes for the end of a line is part of the line.
  - The last line may have no end. A file of no bytes has no lines.
  - A mark (BOM) is kept, and is no part of the first line, unless somebody wants to change it.
"""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from codec.agent.file_texts import decoded

MARK = "\ufeff"


class TextLines(Struct, frozen=True):
    texts: Sequence[str]
    ends: Sequence[str]
    """Of each line. Empty: it is the last one, and has none."""
    encoding: str = "utf-8"
    mark: bytes = b""

    @property
    def usual_end(self) -> str:
        found = Counter(self.ends)
        del found[""]
        return max(found, key=lambda end: (found[end], end == "\n")) if found else "\n"

    @property
    def raw(self) -> list[str]:
        return [text + end for text, end in zip(self.texts, self.ends, strict=True)]

    def with_lines(self, texts: Sequence[str], ends: Sequence[str]) -> "TextLines":
        """Of the same file. A line that has got others after it gets an end."""
        if "" in ends[:-1]:
            usual = self.usual_end
            ends = [*(end or usual for end in ends[:-1]), ends[-1]]
        return TextLines(texts, ends, self.encoding, self.mark)

    def end_for(self, first: int, last: int, offset: int) -> str:
        """For a line that takes the place of those from `first` to before `last`, as the one at `offset` of them."""
        nearest = first + offset if first + offset < last else max(first, last) - 1
        if 0 <= nearest < len(self.ends) and self.ends[nearest]:
            return self.ends[nearest]
        before_or_after = nearest - 1 if nearest >= len(self.ends) - 1 else nearest + 1
        if 0 <= before_or_after < len(self.ends) and self.ends[before_or_after]:
            return self.ends[before_or_after]
        return self.usual_end

    def can_hold(self, text: str) -> bool:
        if "\0" in text:
            return False
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            return False
        return True

    def to_bytes(self) -> bytes:
        return self.mark + "".join(self.raw).encode(self.encoding)


def read_lines(data: bytes, *, mark_is_text: bool = False, only_lf: bool = False) -> TextLines | None:
    """None: it is no text."""
    found = decoded(data)
    if found is None or "\0" in found[0]:
        return None
    text, encoding = found
    mark = data[: len(data) - len(text.encode(encoding))]
    if mark_is_text and mark:
        text, mark = MARK + text, b""
    texts, ends = split_lines(text, only_lf=only_lf)
    return TextLines(texts, ends, encoding, mark)


def split_lines(text: str, *, only_lf: bool = False) -> tuple[list[str], list[str]]:
    """The lines of a text and their ends."""
    if "\r" in text and "\n" in text:
        return _split_mixed(text)
    end = "\r" if "\r" in text and not only_lf else "\n"
    texts = text.split(end)
    if texts[-1]:
        return texts, [*([end] * (len(texts) - 1)), ""]
    texts.pop()
    return texts, [end] * len(texts)


def _split_mixed(text: str) -> tuple[list[str], list[str]]:
    *texts, last = text.split("\n")
    ends = ["\r\n" if line.endswith("\r") else "\n" for line in texts]
    texts = [line[:-1] if line.endswith("\r") else line for line in texts]
    return (texts, ends) if not last else ([*texts, last], [*ends, ""])
