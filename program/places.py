"""The default places for files, by the conventions of each operating system."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from program.trouble import Trouble


def state_dir(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The folder for the database and the address of a running server."""
    match platform:
        case "win32":
            return _base(environ, "LOCALAPPDATA", "AppData", "Local") / "troupe"
        case "darwin":
            return _home() / "Library" / "Application Support" / "troupe"
        case _:
            return _base(environ, "XDG_STATE_HOME", ".local", "state") / "troupe"


def config_file(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The configuration file that is read if it exists."""
    match platform:
        case "win32":
            return _base(environ, "APPDATA", "AppData", "Roaming") / "troupe" / "config.toml"
        case _:
            return _base(environ, "XDG_CONFIG_HOME", ".config") / "troupe" / "config.toml"


def here() -> Path:
    """The folder in which the program was started."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise Trouble("The folder you are in has been removed. Go to another, and try again") from None


def check_interpreter() -> None:
    """The Python that runs us has to start once more, to run programs for us. Raises Trouble if it cannot."""
    if not os.access(sys.executable, os.X_OK):
        raise Trouble(
            f"{sys.executable or 'The Python that runs this'} is missing, or this account may not execute it. It has "
            "to start once more, to run programs. Run Troupe with a Python that this account may execute"
        )


def _base(environ: Mapping[str, str], variable: str, *below_home: str) -> Path:
    base = Path(environ.get(variable, ""))
    return base if base.is_absolute() else _home().joinpath(*below_home)  # XDG: a relative path is to be ignored


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        raise Trouble("There is no home directory to keep things in; say where with --state-dir and --config") from None
