"""README shows one picture of each page, and `python -m tests.pictures` can make all of them anew."""

import re
import struct
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.house.running import ROOT
from tests.pictures import LARGEST, PICTURES, SHOWN, WIDTH, take


def size(picture: Path) -> tuple[int, int]:
    """Width and height, from the head of the PNG."""
    head = picture.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n", picture
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def are_the_ones(pictures: Path) -> None:
    assert {picture.name for picture in pictures.iterdir()} == {f"{name}.png" for name in SHOWN}
    for name, (height, _) in SHOWN.items():
        picture = pictures / f"{name}.png"
        assert size(picture) == (WIDTH, height)
        assert picture.stat().st_size <= LARGEST, picture


def test_readme_shows_a_small_picture_of_each_page_and_says_what_is_on_it() -> None:
    are_the_ones(PICTURES)
    shown = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    assert {ROOT / path for _, path in shown} == set(PICTURES.iterdir())
    assert all(len(text) > 20 for text, _ in shown)


@pytest.mark.browser
@pytest.mark.slow
def test_the_script_makes_them_anew(chromium: Browser, larder: Path, tmp_path: Path) -> None:
    take(chromium, larder, tmp_path / "pictures")
    are_the_ones(tmp_path / "pictures")
