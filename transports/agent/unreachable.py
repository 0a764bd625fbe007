"""Says why a server of models could not be reached or broke off, in a sentence that says what to do.

httpx wraps an error twice or three times. The reason is found by following the chain of causes.
"""

import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx

from codec.agent.answering import excerpt, told
from codec.agent.models import ModelTrouble, Provider
from codec.words import lasting

STARTED_BY: dict[Provider, str] = {
    "ollama": "Start it with `ollama serve`.",
    "vllm": "Start it with `vllm serve MODEL`.",
    "llamacpp": "Start it with `llama-server -m MODEL.gguf`.",
}


def unreachable(who: str, provider: Provider, url: str, error: Exception, seconds: float) -> ModelTrouble:
    causes = list(_causes(error))
    host = urlsplit(url).hostname or url
    match error:
        case httpx.ConnectTimeout():
            return ModelTrouble(f"{who} did not take a connection within {lasting(seconds)}. Is the address right?")
        case httpx.ConnectError() if any(isinstance(cause, socket.gaierror) for cause in causes):
            return ModelTrouble(
                f"{who} is not found: the name {host} is not known. Is it right, and is there a network?"
            )
        case httpx.ConnectError() if tls := next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None):
            return _untrusted(who, tls)
        case httpx.ConnectError():
            start = STARTED_BY.get(provider, "")
            return ModelTrouble(f"{who} does not answer; is it running? {start}".strip())
        case httpx.ProxyError():
            said = told(excerpt(str(error)))
            return ModelTrouble(f"{who} is not reached: the proxy of the environment refuses.{said}")
        case httpx.WriteTimeout() | httpx.WriteError():
            return ModelTrouble(f"{who} did not take the whole question. Try again.")
        case httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return ModelTrouble(f"{who} cannot be asked: its address is no address.", recoverable=False)
        case httpx.RemoteProtocolError() if not _is_end(error):
            return ModelTrouble(f"{who} does not speak HTTP as it should ({excerpt(str(error))}).")
    return ModelTrouble(f"{who} broke off the connection. Try again.")


def _untrusted(who: str, error: ssl.SSLError) -> ModelTrouble:
    if isinstance(error, ssl.SSLCertVerificationError):
        return ModelTrouble(
            f"{who} has a certificate that this machine does not trust ({excerpt(error.verify_message)}). "
            "Name its authority's file in SSL_CERT_FILE if you trust it.",
            recoverable=False,
        )
    return ModelTrouble(f"{who} does not speak TLS. Does its address begin with http:// and not https://?")


def _is_end(error: Exception) -> bool:
    """httpx says so in its words only."""
    return "disconnected" in str(error) or "closed connection" in str(error)


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting: list[BaseException] = [error]
    while waiting:
        cause = waiting.pop()
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        waiting += [found for found in (cause.__cause__, cause.__context__) if found is not None]
        if isinstance(cause, BaseExceptionGroup):
            waiting += cause.exceptions
