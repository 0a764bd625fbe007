"""The version of this Troupe."""

import tomllib
from importlib import metadata
from pathlib import Path


def version() -> str:
    """The version from the project file beside this package or, if there is none, from the installation."""
    try:
        project = tomllib.loads(Path(__file__).parent.with_name("pyproject.toml").read_text("utf-8"))["project"]
        if project["name"] == "troupe":
            return str(project["version"])
    except (OSError, ValueError, LookupError):
        pass  # no project file of ours beside us: we are installed
    return metadata.version("troupe")
