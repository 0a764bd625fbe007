"""A number and what it counts, as people say it: "1 room", "2,000 rooms"."""


def counted(number: int, one: str, many: str = "") -> str:
    """`many`: where it is not `one` and an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
