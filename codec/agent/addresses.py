"""Where a model's server is, as users write it, and as it is kept: without /v1, and without a slash at the end.

    localhost:11434                               -> http://localhost:11434
    http://127.0.0.1:8000/v1/                     -> http://127.0.0.1:8000
    https://openrouter.ai/api/v1/chat/completions -> https://openrouter.ai/api

An address whose path names a version elsewhere (https://host/v1beta/openai) is the whole of it: nothing is added.
A name or a key in an address would end up in lists and logs, so it is refused.

A client with the token may name an address, but nobody should be able to send our questions to any address with it. So
a server is asked only if the settings name it: as a family's server, or in `model_addresses`. There the word "loopback"
stands for every port of this machine, and an address for itself and all below it. Link-local addresses, and those at
which clouds tell a machine its keys, are never asked, whoever names them.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
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
ODD_NUMBER = re.compile(r"(?:(?:0x[0-9a-f]{1,8}|0[0-7]{0,11}|[1-9]\d{0,9})(?:\.(?!$)|$)){1,4}")
"""What resolvers take for an IPv4 address, too: 2130706433, 0x7f.1, 0177.0.0.1."""
LONGEST = 2000
LOOPBACK = "loopback"
"""In the setting: every server on this machine."""
NEVER = (
    *(ip_network(each) for each in ("169.254.0.0/16", "fe80::/10")),
    *(ip_network(each) for each in ("fd00:ec2::254", "100.100.100.200", "192.0.0.192", "168.63.129.16")),
)
"""Link-local addresses, and the places of clouds' metadata that are elsewhere."""
NEVER_NAMED = ("metadata.google.internal", "metadata.goog", "metadata", "instance-data")


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
    host = _host(address)
    if host == "localhost" or host.endswith(".localhost"):
        return True
    found = _numeric(host)
    return found is not None and is_here(found)


def is_here(address: str | IPv4Address | IPv6Address) -> bool:
    """Whether a numeric address is this machine's own."""
    found = _plain(address)
    return found.is_loopback or found.is_unspecified


def is_never_asked(address: str) -> bool:
    """Whether no setting can make it a model's server."""
    host = _host(address)
    found = _numeric(host)
    return host in NEVER_NAMED if found is None else is_never_reached(found)


def is_never_reached(address: str | IPv4Address | IPv6Address) -> bool:
    """The same of a numeric address, such as one that a name leads to."""
    found = _plain(address)
    return any(found in network for network in NEVER)


def is_named(address: str, others: Iterable[str]) -> bool:
    """Whether the setting `model_addresses` names a kept address."""
    return any(
        is_loopback(address) if each == LOOPBACK else address == each or address.startswith(f"{each}/")
        for each in others
    )


def _host(address: str) -> str:
    return (urlsplit(address).hostname or "").rstrip(".")


def _numeric(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        pass
    if not ODD_NUMBER.fullmatch(host):
        return None
    *parts, last = (int(each, 16 if "x" in each else 8 if each[0] == "0" else 10) for each in host.split("."))
    if len(parts) > 3 or any(part > 255 for part in parts) or last >= 256 ** (4 - len(parts)):
        return None
    return IPv4Address(sum(part << (24 - 8 * place) for place, part in enumerate(parts)) + last)


def _plain(address: str | IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Without the ways in which IPv6 writes an IPv4 address."""
    found = ip_address(address.partition("%")[0]) if isinstance(address, str) else address
    if isinstance(found, IPv4Address):
        return found
    if found in ip_network("64:ff9b::/96"):
        return IPv4Address(found.packed[-4:])
    return found.ipv4_mapped or found.sixtofour or found
