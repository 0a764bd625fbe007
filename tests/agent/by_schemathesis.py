"""schemathesis, let loose on a running agent with its own OpenAPI document.

It is no dependency. It is installed into an environment of its own, which is kept if --environment names a folder. It
is told a session and a workspace that there are, and deletes another one.
Checked is what holds of any request: no 5xx, and each answer has a status, a type and a body of the document, or says
that the body, the path or the method is refused. Afterwards nothing has been restarted, and nothing has crashed.

    .venv/bin/python -m tests.agent.by_schemathesis --seed 1 --examples 50
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import trio

from tests.agent.schema_files import FOLDER
from tests.fetched import done, environment, fetched
from tests.house.agent_kit import Agent, agent_server, fake_model

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


KNOWN = """\
[parameters]
"path.workspace_id" = "{workspace_id}"
"path.session_id" = "{id}"

[[operations]]
include-name = "DELETE /v1/sessions/{{session_id}}"
parameters = {{ "path.session_id" = "another" }}
"""


def install(folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--python", str(environment(folder))]
    done(*pip, "install", "-q", "schemathesis", folder=folder)


def tried(program: Path, folder: Path, seed: int, examples: int) -> int:
    with fake_model("--rate", "0") as model, agent_server(folder, model) as house:
        token = (house.state / "agent.token").read_text().strip()
        session = trio.run(Agent(house).session, folder / "work")
        fact = trio.run(Agent(house).ask, "GET", f"sessions/{session}")
        (folder / "schemathesis.toml").write_text(KNOWN.format_map(fact))
        command = [
            str(program), "run", str(FOLDER / "openapi.json"), "--url", house.url_of("agent"),
            "--header", f"Authorization: Bearer {token}", "--checks", CHECKS, "--exclude-path-regex", "stream$",
            "--max-examples", str(examples), "--seed", str(seed), "--continue-on-failure", "--no-color",
            "--phases", "examples,coverage,fuzzing",
        ]  # fmt: skip
        code = subprocess.run(command, check=False, cwd=folder).returncode
        tree = house.json("/tree.json")
        assert [node["path"] for node in tree["nodes"] if node["restarts"]] == []
        assert tree["crashes"] == []
        assert house.stop() == 0
    assert "Traceback" not in house.said, house.said
    return code


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--environment", type=Path, help="where schemathesis is installed, and stays")
    parser.add_argument("--examples", type=int, default=50, help="for each operation")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept = options.environment or Path(folder, "tools")
        kept.mkdir(parents=True, exist_ok=True)
        program = fetched(kept.absolute(), install) / "env" / "bin" / "schemathesis"
        return tried(program, Path(folder, "house"), options.seed, options.examples)


if __name__ == "__main__":
    sys.exit(main())
