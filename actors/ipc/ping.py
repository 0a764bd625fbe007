"""A ping: a small request of our own, by which the peer shows that it is ready. Nobody's journal knows it."""

from contextlib import suppress

import trio

from actors.ipc.adopting import PING
from actors.ipc.given import Base, BaseFull, BaseGone
from actors.ipc.steps import Answer
from codec.ipc import Request, Success, write_request

LOOK_SECONDS = 0.2


async def answered(base: Base, number: str) -> None:
    """Returns when a ping has been answered with success. Whoever cancels it leaves at most one small file."""
    id = f"{PING}{number}"  # noqa: A001 - as in the contract
    content = write_request(Request(id=id, command="ping"))
    is_there = False
    while True:
        with suppress(BaseGone, BaseFull):
            if not is_there:
                await base.publish({id: content})
                is_there = True
            files = await base.look(id)
            if isinstance(files.response, Answer):
                if isinstance(files.response.outcome, Success):
                    await base.withdraw(id)
                    await base.take_away(id, files.response.identity)
                    return
                if files.request is None:  # a HEAD peer has taken it
                    is_there = False
                await base.take_away(id, files.response.identity)
        await trio.sleep(LOOK_SECONDS)
