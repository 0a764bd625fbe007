"""The other end of the agent's port: HTTP with the token, and the stream of a session. It is for commands.

If no server answers, the error is `Unreachable`, with a text for the user. A refusal by the server is an answer.
"""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

import msgspec
import trio

from codec.agent.callers import COMMANDS
from codec.agent.workspaces import Detail, StreamTicket
from codec.words import lasting
from transports.agent.private import AUTHORITY
from transports.agent.secret import TOKEN_FILE
from transports.websocket.client import Unreachable, Visit, visiting

ANSWER_SECONDS = 20.0


class AgentRefused(Exception):
    """The text is the server's own sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class AgentVisitor:
    def __init__(self, url: str, token: str, authority: Path | None = None) -> None:
        """`authority`: of whose certificates the server's is, if it speaks TLS."""
        self._url = url.rstrip("/")
        self._headers = {"authorization": f"Bearer {token}", "user-agent": COMMANDS}
        self._tls = None
        if urlsplit(url).scheme == "https":
            known = str(authority) if authority is not None and authority.exists() else None
            self._tls = ssl.create_default_context(cafile=known)

    @classmethod
    def of(cls, url: str, state_dir: Path) -> "AgentVisitor":
        """For the server whose state is in this directory. Raises OSError if its token cannot be read."""
        token = (state_dir / TOKEN_FILE).read_text("ascii").strip()
        return cls(url, token, state_dir / AUTHORITY)

    async def ask(self, method: str, path: str, body: object = None) -> bytes:
        """`path` is below /v1/. Raises AgentRefused and Unreachable."""
        import httpx

        content = None if body is None else msgspec.json.encode(body)
        try:
            with trio.fail_after(ANSWER_SECONDS):
                async with httpx.AsyncClient(
                    verify=self._tls or False, trust_env=False, timeout=ANSWER_SECONDS
                ) as client:
                    answer = await client.request(
                        method, f"{self._url}/v1/{path}", content=content, headers=self._headers
                    )
        except trio.TooSlowError:
            raise Unreachable(f"the agent at {self._url} did not answer within {lasting(ANSWER_SECONDS)}") from None
        except httpx.HTTPError as error:
            raise Unreachable(f"no agent answers at {self._url} ({type(error).__name__})") from None
        if answer.is_success:
            return answer.content
        try:
            sentence = msgspec.json.decode(answer.content, type=Detail).detail
        except msgspec.DecodeError:
            sentence = f"the server answered {answer.status_code}; is it a Troupe?"
        raise AgentRefused(answer.status_code, sentence)

    @asynccontextmanager
    async def stream(self, session: str) -> AsyncIterator[Visit]:
        ticket = msgspec.json.decode(await self.ask("POST", "tickets"), type=StreamTicket).ticket
        resource = f"/v1/sessions/{quote(session, safe='')}/stream?ticket={ticket}"
        async with visiting(self._url, resource, "agent", tls=self._tls) as visit:
            yield visit
