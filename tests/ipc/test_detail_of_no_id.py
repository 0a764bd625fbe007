import pytest

from tests.ipc.desk_kit import desk_house


@pytest.mark.parametrize("id", ["\x00", "\x01", "a" * 5000, "../x"])
async def test_there_is_no_detail_of_what_is_no_id(id: str) -> None:  # noqa: A002
    async with desk_house() as house:
        assert await house.desk.detail(id) is None
