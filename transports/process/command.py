"""What is to be run."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from codec.programs import Bounds


class Command(Struct, frozen=True):
    argv: Sequence[str]
    """The first is the program's path, or its name on the PATH of `env`."""
    cwd: Path
    """Its folder. If `folder` is given, only what people are told."""
    env: Mapping[str, str]
    """The complete environment; see `clean_env`."""
    stdin: bytes | tuple[bytes, ...] | Path = b""
    """One part after the other, if it is large and comes in parts. A file is read by the program itself, however large
    it is."""
    bounds: Bounds = field(default_factory=Bounds)
    folder: int | None = None
    """Its folder, opened by the caller, who keeps it open until the run is over. So nobody can put another one there
    meanwhile."""
    offline: bool = False
    """Without any network but a loopback of its own (`launcher/birth.py`). If the system refuses that, it is not
    started."""
    ahead: bool = False
    """Its interpreter may be started before it is needed, and serve several runs (`launcher/standby.py`)."""
