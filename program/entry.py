"""The command `troupe`, which does what `python supervisor.py` does.

PyPI has a package called `supervisor`, and where that is installed too, `import supervisor` finds it instead of our
module. So ours is loaded from its place, beside this folder. It is not called `troupe`, which is what scripts import.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

PLACE = Path(__file__).parents[1] / "supervisor.py"


def main() -> int:
    """The exit code."""
    spec = spec_from_file_location("supervisor", PLACE)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[spec.name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    code: int = module.main()
    return code
