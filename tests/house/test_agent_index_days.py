"""On a real server: a workspace within another one, one whose folder is deleted and comes back, one that is rebuilt
again and again, one that has more than the disk of the state has room for, and secrets that come and go."""

import json
import shutil
from pathlib import Path

import pytest

from tests.house.running import server
from tests.house.test_agent import restarts
from tests.house.test_agent_full_disk import fill, post
from tests.house.test_agent_index import Indexed, project
from tests.sidekick.kit import bystanders
from tests.transports.folder.disks import MAY_MOUNT, small_disk

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
        gone = {"errors": [f"There is no folder {root}."], "index_status": "failed", "watching": "off"}
        await work.until(lambda status: gone.items() <= status.items())  # the walk and the watch find out by themselves
        project(root, 30)
        await work.ask("POST", "index/rebuild")
        status = await work.ready()
        assert status["indexed_files"] == status["total_files"]
        assert "package7/module7.py" in await work.found("compute_total_7")
        assert "package15/module35.py" not in await work.found("compute_total_35")
        assert restarts(house) == {}
        assert house.stop() == 0
    assert "Traceback" not in house.said


async def test_rebuilds_without_end_disturb_nobody_and_one_that_is_killed_is_gone_on_with(tmp_path: Path) -> None:
    root = project(tmp_path / "work", 30)
    with server(tmp_path / "house") as house:
        house.ready()
        work = await Indexed.registered(house, root, auto_index=True)
        await work.ready()
        async with bystanders(house, "beside") as others:
            for _ in range(3):
                assert (await work.ask("POST", "index/rebuild"))["index_status"] == "indexing"
                await others.undisturbed()
                assert (await post(house)).status_code == 200
                assert await work.found("compute_total_7") != []
        assert restarts(house) == {}
        await work.ask("POST", "index/rebuild")
        await work.until(lambda status: 0 < status["index_progress"] < 1.0 or status["index_status"] == "ready")
        house.process.kill()
        house.ended()
    with server(tmp_path / "house") as house:
        house.ready()
        again = Indexed(house, work.id)
        assert (await again.found("compute_total_7"))[0] == "package7/module7.py"
        status = await again.ready()
        assert (status["indexed_files"], status["total_symbols"]) == (status["total_files"], 30 * 21)
        found = [path for path in await again.found("compute_total_7") if path == "package7/module7.py"]
        assert len(found) == 1
        assert house.stop() == 0
    assert "Traceback" not in house.said


async def test_no_secret_that_comes_into_a_folder_and_goes_is_in_an_answer_the_log_or_a_byte_that_is_kept(
    tmp_path: Path,
) -> None:
    root = project(tmp_path / "work", 20)
    settings, renamed, code = root / ".env", root / "notes.txt", root / "package1/module1.py"
    settings.write_text("GREETING=xylophone\nDATABASE_PASSWORD=swordfish\n")
    secrets = ("xylophone", "swordfish", "ghp_Ab3dEAb3dEAb3dEAb3dE", "hunter2", "MIIEowIBAAKCAQEA")
    mark = "RSA PRIVATE KEY-----"
    pasted = f"\n# zebra\nHUB = '{secrets[2]}'\npassword = '{secrets[3]}'\n"
    pasted += f"-----BEGIN {mark}\n{secrets[4]}\n-----END {mark}\n"
    with server(tmp_path / "house") as house:
        house.ready()
        work = await Indexed.registered(house, root, auto_index=True)
        await work.ready()
        told: list[str] = []

        async def look() -> None:
            for words in ("zebra", "password", "GREETING", "HUB"):
                answer = await work.ask("GET", f"search?q={words}")
                told.append(json.dumps(answer["results"]))
            told.extend(file.read_bytes().decode("latin-1") for file in house.state.joinpath("index").iterdir())

        settings.rename(renamed)
        await work.finds("GREETING", "notes.txt")
        await look()
        renamed.rename(settings)
        await work.finds("GREETING", "notes.txt", there=False)
        before = code.read_text()
        code.write_text(before + pasted)
        await work.finds("zebra", "package1/module1.py")
        await look()
        code.write_text(before)
        await work.finds("zebra", "package1/module1.py", there=False)
        await look()
        assert restarts(house) == {}
        assert house.stop() == 0
    told.append(house.said)
    assert [secret for secret in secrets if any(secret.lower() in each.lower() for each in told)] == []
    assert "***" in "".join(told)


if MAY_MOUNT:  # elsewhere the test of an index that leaves room stands in for this

    async def test_an_index_that_finds_no_room_leaves_some_to_the_others_and_goes_on_when_there_is_more(
        tmp_path: Path,
    ) -> None:
        root = project(tmp_path / "work", 800)
        with small_disk(tmp_path / "house", 32) as place, server(place) as house:
            house.ready()
            ballast = fill(place)
            ballast.write_bytes(b"x" * (ballast.stat().st_size - (10 << 20)))
            work = await Indexed.registered(house, root, auto_index=True)
            status = await work.until(lambda status: status["index_status"] in ("failed", "ready"))
            assert status["errors"] == [
                f"The index waits for room: less than 8 MB would be free on the disk of {house.state / 'index'}."
            ]
            assert (await post(house)).status_code == 200
            assert await work.found("compute_total_7") != []
            ballast.unlink()
            await work.ask("POST", "index/refresh")
            status = await work.ready()
            assert (status["indexed_files"], status["errors"]) == (status["total_files"], [])
            assert restarts(house) == {}
            assert house.stop() == 0
        assert "Traceback" not in house.said
