"""Where the folder of the desk is, and where the state of the server.

the folder    the argument, $TROUPE_IPC_BASE, `base` in [ipc] of the configuration, or the contract's own
the state     the argument, or the server's own default (program/places.py says the same)
"""

import os
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

from troupe.ipc.troubles import DeskError

VARIABLE = "TROUPE_IPC_BASE"
USUAL = Path("/tmp/copilot-evaluation")  # noqa: S108 - the contract names it; only a folder of our own is used
LARGEST_CONFIG = 1 << 18


def base_of(
    given: str | os.PathLike[str] | None,
    config: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    platform: str = sys.platform,
) -> Path:
    """Raises DeskError, if the configuration cannot be read."""
    if given is not None:
        return Path(os.path.abspath(Path(given).expanduser()))
    if named := environ.get(VARIABLE):
        return Path(os.path.abspath(Path(named).expanduser()))
    configured = _configured(config or config_file(environ, platform), required=config is not None)
    return Path(configured) if configured else USUAL


def _configured(path: Path | None, *, required: bool) -> str | None:
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            settings = tomllib.loads(file.read(LARGEST_CONFIG).decode("utf-8-sig"))
    except FileNotFoundError:
        if required:
            raise DeskError(f"{path}: there is no such file") from None
        return None
    except (OSError, ValueError) as error:
        raise DeskError(f"{path}: the configuration cannot be read: {error}") from None
    section = settings.get("ipc")
    base = section.get("base") if isinstance(section, dict) else None
    return base if isinstance(base, str) and base else None


def state_dir(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path | None:
    """None: there is no home directory."""
    match platform:
        case "win32":
            return _below(environ, "LOCALAPPDATA", "AppData", "Local", "troupe")
        case "darwin":
            return _below({}, "", "Library", "Application Support", "troupe")
        case _:
            return _below(environ, "XDG_STATE_HOME", ".local", "state", "troupe")


def config_file(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path | None:
    match platform:
        case "win32":
            folder = _below(environ, "APPDATA", "AppData", "Roaming", "troupe")
        case _:
            folder = _below(environ, "XDG_CONFIG_HOME", ".config", "troupe")
    return folder / "config.toml" if folder else None


def _below(environ: Mapping[str, str], variable: str, *below_home: str) -> Path | None:
    base = Path(environ.get(variable, ""))
    if base.is_absolute():  # XDG: a relative path is to be ignored
        return base / below_home[-1]
    try:
        return Path.home().joinpath(*below_home)
    except RuntimeError:
        return None
