"""Finds and reads the settings, and describes the result (`troupe check`)."""

from collections.abc import Sequence
from pathlib import Path

from codec.settings import LONGEST, BadSettings, IpcSettings, Section, Settings, parse
from program.trouble import Trouble


def load(path: Path | None, overrides: Sequence[str] = (), *, default: Path) -> Settings:
    """The settings from the file at `path` (or from the one at `default`, if it exists), changed by `overrides`."""
    source = path or default
    try:
        return parse(_read(source, optional=path is None), source=str(source), overrides=overrides)
    except BadSettings as bad:
        raise Trouble(str(bad)) from None


def described(settings: Settings) -> str:
    """The settings in words, one line for each system."""
    names = settings.__struct_fields__
    width = max(map(len, names))
    return "\n".join(f"{name:{width}}  {_in_words(getattr(settings, name))}" for name in names)


def _in_words(section: Section) -> str:
    if not section.enabled:
        return "off"
    port = section.port or "any free port"
    addresses = " and ".join(f"[{each}]:{port}" if ":" in each else f"{each}:{port}" for each in section.addresses)
    return f"{addresses}, in {section.folder}" if isinstance(section, IpcSettings) else addresses


def _read(path: Path, *, optional: bool) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LONGEST * 4 + 1)
    except FileNotFoundError:
        if optional:
            return ""
        raise Trouble(f"{path}: there is no such file. Without --config, the defaults are used") from None
    except OSError as error:
        raise Trouble(f"{path}: the configuration cannot be read: {error.strerror}") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Trouble(f"{path}:{line}: not text in UTF-8, as TOML must be; save the file as UTF-8") from None
