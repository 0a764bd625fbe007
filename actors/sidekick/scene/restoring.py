"""Turns a stored picture back into a scene: its messages are folded into an empty scene, each part on behalf of its
owner.

The picture was the replay of a scene, so normally all of it is accepted, and the result shows the same board. Messages
that are not accepted (there is less memory than before, or this version has other rules) are counted, and the others
stay.

Which heroes may not write on which components is set only at the end. Until then a hero may put components into a
container, as it did before it lost that right.
"""

from typing import Any, Literal

import msgspec
from msgspec import Raw

from actors.sidekick.scene.scene import Drawn, Scene
from actors.sidekick.scene.tree import Hero
from codec.sidekick import Dialect, Ear, Said, Update
from codec.sidekick.kept import Begins
from codec.sidekick.shapes import VizChange, VizOptions

LONG = 64 * 1024
"""A message of more bytes is read in part only, if that is enough."""


class _Options(msgspec.Struct):
    path: list[Any]
    node: Raw = msgspec.field(name="valueRepresentation")


class _Change(msgspec.Struct, rename="camel"):
    action: Literal["set"]
    variable_name: str
    options: _Options


class _Variable(msgspec.Struct):
    """The message that set a variable. Its node may have 30 MB, and is not read."""

    component: Literal["viz"]
    type: Literal["update"]
    target: str
    payload: _Change


_as_variable = msgspec.json.Decoder(_Variable).decode


class Restoring:
    def __init__(self, scene: Scene) -> None:
        self.refused = 0
        """The number of messages that were not accepted."""
        self._scene = scene
        self._ear = Ear(Dialect.D)
        self._hero: Hero = None
        self._outsiders: tuple[str, ...] = ()
        self._kept_out: list[tuple[str, tuple[str, ...]]] = []

    def take(self, record: Begins | bytes) -> None:
        if isinstance(record, Begins):
            self._hero, self._outsiders = record.hero, record.outsiders
            return
        heard = self._heard(record)
        for said in heard if isinstance(heard, list) else [heard]:
            if not isinstance(said, Drawn) or self._scene.fold(said, self._hero) is not None:
                self.refused += 1
            elif self._outsiders:
                self._kept_out.append((getattr(said, "target", None) or "", self._outsiders))
                self._outsiders = ()  # they stand with the spawn, which comes first

    def end(self) -> None:
        for target, heroes in self._kept_out:
            self._scene.keep_out(target, heroes)

    def _heard(self, frame: bytes) -> Said | list[Said]:
        if len(frame) < LONG:
            return self._ear.hear(frame)
        try:
            variable = _as_variable(frame)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return self._ear.hear(frame)
        if variable.payload.options.path:
            return self._ear.hear(frame)
        change = VizChange("set", variable.payload.variable_name, VizOptions(path=[], value_representation={}))
        return Update("viz", variable.target, "set", change, frame)
