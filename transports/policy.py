"""Who may talk to a local server: the Host and Origin of a request, judged.

A page on the internet can make the browser that shows it send requests to 127.0.0.1. Two headers tell such requests
from honest ones, and no page can forge them:

  - Host. By DNS rebinding a page makes its own name resolve to 127.0.0.1, but the browser then says that name here.
  - Origin. A page of another site says its site here. Absent from a program that is no browser.

Rules
  - A Host is right if it is one of our names with our port, or was configured.
  - An Origin is right if it is absent, is our own under any of our names, or was configured. `null` (a sandboxed
    frame, a local file) is nobody and is refused unless configured.
  - Pure; the same verdicts for requests and for upgrades.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from transports.refusal import Refusal

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
ANY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104  these are recognised here, not bound
DEFAULT_PORT = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """What the user allows beside loopback."""

    names: tuple[str, ...] = ()
    """More names of this machine: "box.lan" (with the door's port), or "box.lan:8443" (a forwarded port)."""
    origins: tuple[str, ...] = ()
    """Origins that may ask although not ours: "https://tools.example", or "vscode-webview://*" for all of a kind."""

    def at(self, port: int, *, secure: bool = False, hosts: Sequence[str] = ()) -> "HostRules":
        """The rules for a door that stands at this port on these hosts."""
        scheme = "https" if secure else "http"
        bound = [f"[{host}]" if ":" in host else host for host in hosts if host not in ANY_ADDRESS]
        names: set[str] = set()
        for name in (*LOOPBACK_NAMES, *bound, *self.names):
            bare, has_port = _split(name.lower())
            names.add(name.lower() if has_port else f"{bare}:{port}")
            if not has_port and port == DEFAULT_PORT[scheme]:
                names.add(bare)
        own = frozenset(f"{scheme}://{name}" for name in names)
        exact = frozenset(origin.lower() for origin in self.origins if not origin.endswith("*"))
        kinds = tuple(origin.lower().removesuffix("*") for origin in self.origins if origin.endswith("*"))
        return HostRules(frozenset(names), own, exact, kinds)


@dataclass(frozen=True, slots=True)
class HostRules:
    names: frozenset[str]
    own_origins: frozenset[str]
    origins: frozenset[str]
    origin_kinds: tuple[str, ...]

    def check(self, hosts: Sequence[str], origins: Sequence[str]) -> str | None:
        """Refuse, or give the foreign origin that was let in (None: no origin, or our own)."""
        self._check_host(hosts)
        return self._check_origin(origins)

    def _check_host(self, hosts: Sequence[str]) -> None:
        match hosts:
            case []:
                raise Refusal(400, "The request has no Host header.")
            case [host] if host.lower() in self.names:
                return
            case [host]:
                known = ", ".join(sorted(self.names))
                raise Refusal(421, f"This server is not {host[:80]!r}; ask for it by a name it answers to: {known}.")
            case _:
                raise Refusal(400, "The request has more than one Host header.")

    def _check_origin(self, origins: Sequence[str]) -> str | None:
        match [origin.lower() for origin in origins]:
            case []:
                return None
            case [origin] if origin in self.own_origins:
                return None
            case [origin] if origin in self.origins or any(map(origin.startswith, self.origin_kinds)):
                return origin
            case [origin]:
                raise Refusal(
                    403,
                    f"A page of {origin[:80]!r} may not use this server; its own pages may, and programs that send no "
                    "Origin.",
                )
            case _:
                raise Refusal(400, "The request has more than one Origin header.")


def _split(name: str) -> tuple[str, bool]:
    """A name without its port, and whether it had one."""
    bare, colon, port = name.rpartition(":")
    return (bare, True) if colon and port.isdigit() and (not bare.count(":") or bare.endswith("]")) else (name, False)
