"""Searching: `troupe search` with a running server and without one, and the page's search while an index is made."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.house.agent_kit import agent_server
from tests.house.agent_page import add_folder, link, visiting
from tests.house.running import Server, troupe

pytestmark = [pytest.mark.slow, pytest.mark.timeout(150)]


def shop(folder: Path, files: int = 3) -> Path:
    folder.mkdir(parents=True)
    for number in range(files):
        text = f'"""Part {number}."""\n\n\ndef checkout_{number}(basket):\n    return basket.total_{number}\n'
        folder.joinpath(f"part{number}.py").write_text(text)
    folder.joinpath("orders.py").write_text(
        "class OrderBook:\n    def refund(self, order):\n        return -order.sum\n"
    )
    folder.joinpath(".env").write_text("SHOP_PASSWORD=correct-horse-battery\n")
    return folder


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Server]:
    with agent_server(tmp_path / "house", "") as house:
        yield house


def test_without_a_server_a_folder_is_searched_as_it_is_now(tmp_path: Path) -> None:
    """The index stays from one search to the next, and what happened between them counts."""
    work, state = shop(tmp_path / "work"), tmp_path / "state"

    def search(*words: str) -> tuple[int, str, str]:
        done = troupe(work, "search", *words, "--state-dir", str(state))
        return done.returncode, done.stdout, done.stderr

    code, out, _ = search("OrderBook.refund")
    assert code == 0
    first = out.splitlines()[0]
    assert first.startswith("orders.py:2"), out
    assert "refund" in first
    work.joinpath("orders.py").unlink()
    work.joinpath("returns.py").write_text("\n\ndef refund_all(orders):\n    ...\n")
    code, out, _ = search("refund")
    assert out.startswith("returns.py:3")
    assert "orders.py" not in out
    assert search("correct-horse-battery")[:2] == (1, "")
    assert "Nothing was found" in search("zzyzx")[2]
    assert state.joinpath("index").stat().st_mode & 0o077 == 0


def test_with_a_server_its_own_index_is_asked(tmp_path: Path, house: Server) -> None:
    work = shop(tmp_path / "work")
    done = troupe(work, "search", "checkout_2", "--json", "--kind", "symbols", "--state-dir", str(house.state))
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["complete"]
    assert (answer["results"][0]["path"], answer["results"][0]["symbol"]) == ("part2.py", "checkout_2")
    done = troupe(
        tmp_path, "search", "checkout_2", "--workspace", str(tmp_path / "nowhere"), "--state-dir", str(house.state)
    )
    assert done.returncode == 1
    assert "There is no folder" in done.stderr


def test_in_a_folder_of_a_workspace_its_index_is_searched_and_what_is_below_comes_first(
    tmp_path: Path, house: Server
) -> None:
    work = shop(tmp_path / "work")
    deep = work / "lib" / "tax"
    deep.mkdir(parents=True)
    deep.joinpath("rates.py").write_text('"""Where orders are mentioned."""\n\nNAMES = ["refund"]\n')
    state = ("--state-dir", str(house.state))
    assert troupe(work, "search", "refund", *state).stdout.splitlines()[0].startswith("orders.py:2")
    done = troupe(deep, "search", "refund", *state)
    places = [line.partition(":")[0] for line in done.stdout.splitlines() if line and not line.startswith(" ")]
    assert places[0] == "rates.py", done.stdout
    assert "../../orders.py" in places
    answer = json.loads(troupe(deep, "search", "refund", "--json", "--most", "1", *state).stdout)
    assert [each["path"] for each in answer["results"]] == ["lib/tax/rates.py"]
    assert troupe(deep, "search", "refund", "--workspace", str(work / "gone"), *state).returncode == 1
    assert len(list(house.state.joinpath("index").glob("*.db"))) == 1


@pytest.mark.browser
def test_the_search_box_finds_while_the_index_is_being_made_and_all_of_it_in_the_end(
    tmp_path: Path, house: Server, chromium: Browser
) -> None:
    work = shop(tmp_path / "work", files=1500)
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        add_folder(page, work)
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Search").click()
        field = page.get_by_role("combobox", name="Search this folder")
        expect(field).to_be_focused()
        page.keyboard.type("refund", delay=10)
        found = page.get_by_role("listbox", name="What was found").get_by_role("option")
        expect(found.filter(has_text="orders.py").first).to_be_visible()
        expect(page.locator("agent-search .index")).to_contain_text("1,502 files in the index.", timeout=60_000)
        field.press("Control+a")
        page.keyboard.type("checkout_1499", delay=10)
        expect(found.first).to_contain_text("part1499.py")
        work.joinpath("saved.py").write_text("def saved_just_now():\n    ...\n")
        field.press("Control+a")
        page.keyboard.type("saved_just_now", delay=10)
        expect(found.first).to_contain_text("saved.py")
        work.joinpath("saved.py").write_text("# gone\n")
        expect(found.filter(has_text="def saved_just_now")).to_have_count(0)
