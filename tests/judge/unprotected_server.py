"""The server as on a kernel that lets every program signal every other program of its user."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import supervisor  # noqa: E402
from transports.process import keepers  # noqa: E402

keepers.PROGRAM = ROOT / "tests" / "transports" / "process" / "unprotected_launcher.py"

if __name__ == "__main__":
    sys.exit(supervisor.main())
