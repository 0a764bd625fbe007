"""A folder full of secrets: whatever a turn reads, searches and lists in it, no byte that reaches a model, a client, a
search or the index's file has one of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agent.codec.test_forms_of_secrets import CODE, SETTINGS
from tests.agent.fakes.ollama import FakeOllama
from tests.agent.fakes.talking import talking
from tests.house.agent_kit import Agent, agent_server
from tests.house.test_agent import restarts
from tests.house.test_agent_index import Indexed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

WORDS = ["password", "API_KEY token", "DB_PASSWORD value", "secret", "ordinary", "before"]
AT_ONCE = 8


def hoard(root: Path) -> tuple[dict[str, str], list[str]]:
    """Each form in a file of its own, with a secret of its own."""
    secrets, paths = dict[str, str](), list[str]()
    for number, (name, form) in enumerate([*CODE, *SETTINGS]):
        secret = f"kq83hHq2kL{number:03}xWz"
        folder = root / f"form{number}"
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_text(f"before\n{form.format(secret)}\nbehind\n")
        secrets[str(path.relative_to(root))] = secret
        paths.append(str(path.relative_to(root)))
    return secrets, paths


async def test_no_secret_of_a_folder_reaches_a_model_a_client_a_search_or_the_index(tmp_path: Path) -> None:
    root = tmp_path / "work"
    secrets, paths = hoard(root)
    reads = [("read_file", {"file_path": path}) for path in paths]
    parts = [("read_file", {"file_path": path, "first_line": 3, "last_line": 4}) for path in paths]
    looks = [("search_text", {"query": words}) for words in WORDS]
    looks += [("search_symbols", {"name": "password"}), ("list_files", {}), ("vector_search", {"query": "passwords"})]
    calls: list[tuple[str, Any]] = [*looks, *reads, *parts]
    fake = FakeOllama(talking(0))
    async with fake.running(0):
        with agent_server(tmp_path / "house", fake.url) as house:
            work = await Indexed.registered(house, root)
            await work.ask("POST", "index/rebuild")
            await work.ready()
            told = [json.dumps(await work.ask("GET", f"search?q={words}&most=100")) for words in ("password", "before")]
            agent = Agent(house)
            session = await agent.session(root, context_window=1_000_000)
            async with agent.attach(session) as window:
                for first in range(0, len(calls), 4 * AT_ONCE):
                    some = calls[first : first + 4 * AT_ONCE]
                    rounds = [some[at : at + AT_ONCE] for at in range(0, len(some), AT_ONCE)]
                    await window.turn(f"!rounds {json.dumps(rounds)}")
                for path in paths[:40:4]:
                    await window.turn(f"/explain {path} and @{path}")
                told += map(json.dumps, window.heard)
            prompts = [json.dumps(asked.body, ensure_ascii=False) for asked in fake.asked]
            assert restarts(house) == {}
    kept = b"".join(file.read_bytes() for file in house.state.joinpath("index").iterdir() if file.is_file())
    everything = "\n".join([*prompts, *told])
    assert everything.count("***") > len(paths)
    assert sum(f"form{number}/" in everything for number in range(len(paths))) == len(paths)
    for path, secret in secrets.items():
        assert secret not in everything, path
        assert secret.encode() not in kept, path
