"""The command `troupe` beside a package that has the name of our module, as PyPI has one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_command_starts_our_module_where_a_package_of_its_name_is_installed_too(tmp_path: Path) -> None:
    package = tmp_path / "supervisor"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('this is the package of another project')\n")
    call = "import sys; from program.entry import main; sys.exit(main())"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    command = [sys.executable, "-c", call, "--version"]
    told = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False, timeout=60)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith("troupe ")
