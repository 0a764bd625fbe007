"""A server end in virtual time: the real actors over a folder on paper and a real store."""

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import trio

from actors.ipc.command import ServerTerms
from actors.ipc.commands import known_commands
from actors.ipc.given import Tray
from actors.ipc.handlers import Handlers, KnownCommand
from actors.ipc.server_end import server_spec
from actors.kernel import AnySpec, ChildSpec
from actors.kernel.testing import House, staged
from actors.store import Inline, StateDirectory, Store
from codec.ipc import Failure, Outcome, Request, Response, Success, Wishes, read_response, write_request
from tests.ipc.paper import PaperBase

EPOCH = 1_800_000_000.0
FOLDER = "/paper"


def wall() -> float:
    return EPOCH + trio.current_time()


def asked(id: str = "r", command: str = "ping", params: dict[str, Any] | None = None, **wishes: Any) -> bytes:  # noqa: A002
    return write_request(Request(id=id, command=command, params=params or {}, wishes=Wishes(**wishes)))


@contextmanager
def state_directory() -> Iterator[StateDirectory]:
    with TemporaryDirectory() as place, StateDirectory.claim(Path(place) / "state") as directory:
        yield directory


class ServerDesk:
    """Puts requests into the folder, and reads what is answered."""

    def __init__(self, base: PaperBase) -> None:
        self.base = base

    def put(self, id: str = "r", command: str = "ping", params: dict[str, Any] | None = None, **wishes: Any) -> None:  # noqa: A002
        self.base.foreign_put(Tray.REQUESTS, id, asked(id, command, params, **wishes))

    def answered(self) -> set[str]:
        return {name for place, name in self.base.files if place is Tray.RESPONSES}

    def response(self, id: str = "r") -> Response | None:  # noqa: A002
        there = self.base.files.get((Tray.RESPONSES, id))
        return None if there is None else read_response(there[1], id)

    async def outcome(self, id: str = "r", seconds: float = 900.0) -> Outcome:  # noqa: A002
        with trio.fail_after(seconds):
            while (response := self.response(id)) is None:  # noqa: ASYNC110 - of files, as any peer does
                await trio.sleep(0.1)
        return response.outcome

    async def success(self, id: str = "r") -> Any:  # noqa: A002
        outcome = await self.outcome(id)
        assert isinstance(outcome, Success), outcome
        return outcome.data

    async def failure(self, id: str = "r") -> Failure:  # noqa: A002
        outcome = await self.outcome(id)
        assert isinstance(outcome, Failure), outcome
        return outcome

    def take_away(self, id: str = "r") -> None:  # noqa: A002
        self.base.foreign_drop(Tray.RESPONSES, id)


def specs(
    base: PaperBase,
    directory: StateDirectory,
    handlers: Iterable[KnownCommand] = (),
    *,
    model: Any = "none",
    **terms: Any,
) -> list[AnySpec]:
    known: Handlers = known_commands(model)
    for command in handlers:
        known.add(command)
    return [
        ChildSpec("store", partial(Store, directory, Inline)),
        server_spec(base, FOLDER, known, ServerTerms(**terms), wall=wall),
    ]


@asynccontextmanager
async def serving(
    base: PaperBase, directory: StateDirectory, handlers: Iterable[KnownCommand] = (), **options: Any
) -> AsyncIterator[tuple[ServerDesk, House]]:
    async with staged(*specs(base, directory, handlers, **options)) as house:
        yield ServerDesk(base), house
