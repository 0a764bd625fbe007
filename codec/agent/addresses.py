"""Where a model's server is, as users write it, and as it is kept: without /v1, and without a slash at the end.

    localhost:11434                               -> http://localhost:11434
    http://127.0.0.1:8000/v1/                     -> http://127.0.0.1:8000
    https://openrouter.ai/api/v1/chat/completions -> https://openrouter.ai/api

An address whose path names a version elsewhere (https://host/v1beta/openai) is the whole of it: nothing is added.
A name or a key in an address would end up in lists and logs, so it is refused.
"""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from codec.agent.models import Provider

DEFAULTS: dict[Provider, str] = {
    "ollama": "http://127.0.0.1:11434",
    "openai": "https://api.openai.com",
    "vllm": "http://127.0.0.1:8000",
    "llamacpp": "http://127.0.0.1:8080",
}
"""Where these servers are if nobody says otherwise."""
ENDS = re.compile(r"(/v1)?(/(chat/completions|models))?/*$")
OLLAMA_ENDS = re.compile(r"(/v1|/api(/(chat|tags|show|generate))?)?/*$")
VERSION = re.compile(r"v\d+[a-z]*\d*")
ODD = re.compile(r"[\s\x00-\x20\x7f<>\"\\^`{|}]")
LONGEST = 2000


class BadAddress(ValueError):
    """The text says what is wrong with it, and what it should look like."""


def kept_address(text: str, provider: Provider) -> str:
    """As it is kept. An empty text is the provider's usual address. Raises BadAddress."""
    text = text.strip() or DEFAULTS.get(provider, "")
    shown = text.rpartition("@")[2][:200]
    example = f"write it like {DEFAULTS.get(provider, DEFAULTS['ollama'])}"
    if ODD.search(text) or len(text) > LONGEST:
        raise BadAddress(f"{shown!r} is no address of a server; {example}.")
    scheme, mark, _ = text.partition("://")
    if not mark:
        scheme, text = "http", f"http://{text}"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        raise BadAddress(f"{shown!r} is no address of a server; {example}.") from None
    if scheme.lower() not in ("http", "https"):
        raise BadAddress(f"{shown!r} begins with {scheme[:20]}://; a server of models is asked over http or https.")
    if "@" in parts.netloc:
        raise BadAddress(
            f"The address of {shown!r} holds a name or a key. Put the key into an environment variable, name that "
            "in the settings, and leave both out of the address."
        )
    if not host or port == 0:
        raise BadAddress(f"{shown!r} names no server; {example}.")
    if parts.query or parts.fragment:
        raise BadAddress(f"{shown!r} goes on after its path; {example}.")
    ends = OLLAMA_ENDS if provider == "ollama" else ENDS
    path = re.sub(ends, "", parts.path)
    usual = {"http": 80, "https": 443}[scheme.lower()]
    place = (f"[{host}]" if ":" in host else host) + (f":{port}" if port not in (None, usual) else "")
    return f"{scheme.lower()}://{place}{path}"


def openai_root(address: str) -> str:
    """What /chat/completions and /models are appended to."""
    versioned = any(VERSION.fullmatch(part) for part in urlsplit(address).path.split("/"))
    return address if versioned else f"{address}/v1"


def is_loopback(address: str) -> bool:
    """Whether it is on this machine."""
    host = urlsplit(address).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        found = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return found.is_loopback or found.is_unspecified
