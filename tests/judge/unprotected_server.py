"""The server as it is where the kernel lets every program signal every other of its user."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import supervisor  # noqa: E402
from transports import process_launcher  # noqa: E402

process_launcher.PROGRAM = ROOT / "tests" / "transports" / "unprotected_launcher.py"

if __name__ == "__main__":
    sys.exit(supervisor.main())
