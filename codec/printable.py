"""Texts as a terminal may be given them."""


def printable(text: str) -> str:
    """`text` with all characters escaped that would move a terminal's cursor or change its colours."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text)
