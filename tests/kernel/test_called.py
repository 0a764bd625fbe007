"""What people call an actor is told while it lives, and of its end."""

import pytest

from actors.kernel import Actor, ChildSpec, Restart
from actors.kernel.testing import staged


class Visitor(Actor[str]):
    def __init__(self, part: str) -> None:
        self.part = part

    @property
    def called(self) -> str:
        if self.part == "nobody":
            raise LookupError("no such part")
        return f"page {self.part}"

    async def handle(self, message: str) -> None:
        if message == "boom":
            raise ValueError("as told")
        self.part = message


def visitor(part: str) -> ChildSpec[str]:
    return ChildSpec("1-ab12", lambda: Visitor(part), restart=Restart.TEMPORARY)


@pytest.mark.parametrize(
    ("part", "told"), [("garden", "page garden"), ("nobody", "(its name cannot be had: LookupError: no such part)")]
)
async def test_an_end_tells_what_people_called_who_ended(part: str, told: str) -> None:
    async with staged(visitor("hall")) as house:
        ref = house["1-ab12"]
        assert ref.statistics().called == "page hall"
        ref.tell(part)
        ref.tell("boom")
        await ref.wait_stopped()
        assert [crash.called for crash in house.stage.crashes] == [told]
        assert [entry.detail.called for entry in house.trace.of("stop", "top/1-ab12")] == [told]
        assert ref.statistics().called is None
