"""On a real server: a workspace within another one, and a workspace whose folder is deleted and comes back."""

import shutil
from pathlib import Path

import pytest

from tests.house.running import server
from tests.house.test_agent import restarts
from tests.house.test_agent_index import Indexed, project

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


async def test_a_workspace_within_another_one_has_an_index_of_its_own_and_both_hear_of_a_save(tmp_path: Path) -> None:
    outer_root = project(tmp_path / "work", 40)
    inner_root = outer_root / "package3"
    with server(tmp_path / "house") as house:
        house.ready()
        outer = await Indexed.registered(house, outer_root, auto_index=True)
        inner = await Indexed.registered(house, inner_root, auto_index=True)
        assert outer.id != inner.id
        of_outer, of_inner = await outer.ready(), await inner.ready()
        assert of_outer["total_files"] > of_inner["total_files"] == len([*inner_root.iterdir()])
        inner_root.joinpath("saved.py").write_text("def zanzibar_of_the_moment():\n    pass\n")
        await inner.finds("zanzibar_of_the_moment", "saved.py")
        await outer.finds("zanzibar_of_the_moment", "package3/saved.py")
        assert "package4/module4.py" in await outer.found("compute_total_4")
        assert set(await inner.found("compute_total_4")) <= {each.name for each in inner_root.iterdir()}
        assert restarts(house) == {}
        assert house.stop() == 0
    assert "Traceback" not in house.said


async def test_a_workspace_whose_folder_is_deleted_says_so_and_is_indexed_when_it_is_there_again(
    tmp_path: Path,
) -> None:
    root = project(tmp_path / "work", 40)
    with server(tmp_path / "house") as house:
        house.ready()
        work = await Indexed.registered(house, root, auto_index=True)
        await work.ready()
        shutil.rmtree(root)
        status = await work.until(lambda status: status["index_status"] == "failed")
        assert status["errors"] == [f"There is no folder {root}."]
        project(root, 30)
        await work.ask("POST", "index/rebuild")
        status = await work.ready()
        assert status["indexed_files"] == status["total_files"]
        assert "package7/module7.py" in await work.found("compute_total_7")
        assert "package15/module35.py" not in await work.found("compute_total_35")
        assert restarts(house) == {}
        assert house.stop() == 0
    assert "Traceback" not in house.said
