"""Names for refs, by which actors find each other who were not started by each other.

A key carries the type of the messages that whoever has claimed it takes, so what is told to a name is checked as what
is told to a ref. A system keeps its keys where its messages are; two keys of one name are the same key.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from actors.kernel.errors import NameTaken, NobodyThere
from actors.kernel.ref import ActorRef, AnyRef

M = TypeVar("M")


@dataclass(frozen=True)  # no slots: of such, Python 3.11 makes no generic with its type given
class Key(Generic[M]):
    """`SHELF = Key[ShelfMessage]("judge/shelf")`"""

    name: str


class Registry:
    """A name vanishes with its owner, before the owner's Down is told to anyone."""

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
        return cast("ActorRef[M] | None", self._refs.get(key.name))  # it was claimed with this key

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
