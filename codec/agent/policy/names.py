"""Sets of names, written as paragraphs."""


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())
