"""A number with its noun: "1 room", "2,000 rooms"."""


def counted(number: int, one: str, many: str = "") -> str:
    """`many` is the plural, if it is not `one` with an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
