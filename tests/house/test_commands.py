"""What a command loads: no more than it needs."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAVY = {"quart", "hypercorn", "trio_websocket", "markdown_it", "prometheus_client"}


def test_the_commands_do_not_load_what_only_the_server_needs(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.touch()
    script = """if True:
        import sys, supervisor
        assert supervisor.main(["check", "--config", sys.argv[1]]) == 0
        print(*sys.modules, file=sys.stderr)
    """
    command = [sys.executable, "-c", script, str(config)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=30)
    loaded = set(done.stderr.split())
    assert "supervisor" in loaded
    assert not loaded & HEAVY
