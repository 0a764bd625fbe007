"""Names for refs, by which an actor finds another one that it did not start.

A key carries the type of the messages that the actor with this name takes, so a type checker checks messages to a name
as it checks messages to a ref. A system keeps its keys beside its messages. Two keys with the same name are the same
key.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from actors.kernel.errors import NameTaken, NobodyThere
from actors.kernel.ref import ActorRef, AnyRef

M = TypeVar("M")


@dataclass(frozen=True)  # no slots: with them, Python 3.11 fails on `Key[M]("name")`
class Key(Generic[M]):
    """`SHELF = Key[ShelfMessage]("judge/shelf")`"""

    name: str


class Registry:
    """When the owner of a name ends for good, the name is released before any monitor is told of the end."""

    def __init__(self) -> None:
        self._refs: dict[str, AnyRef] = {}

    def claim(self, key: Key[M], ref: ActorRef[M]) -> None:
        name = key.name
        holder = self._refs.get(name)
        if holder is not None and holder is not ref:
            raise NameTaken(f"the name {name!r} belongs to {holder.path}; {ref.path} cannot have it too")
        if not ref.alive:
            raise NameTaken(f"{ref.path} has ended and can claim no name ({name!r})")
        if holder is None:
            self._refs[name] = ref
            slot = ref._slot
            if slot.names is None:
                slot.names = []
            slot.names.append(name)

    def find(self, key: Key[M]) -> ActorRef[M] | None:
        return cast("ActorRef[M] | None", self._refs.get(key.name))  # it was claimed with a key of the same name

    def get(self, key: Key[M]) -> ActorRef[M]:
        ref = self.find(key)
        if ref is None:
            raise NobodyThere(f"{key.name} is not running at the moment; try again in a moment")
        return ref

    def release(self, name: str, ref: AnyRef) -> None:
        if self._refs.get(name) is ref:
            del self._refs[name]

    def names(self) -> dict[str, AnyRef]:
        return dict(self._refs)

    def __len__(self) -> int:
        return len(self._refs)
