"""Decides by Host and Origin which requests a local server answers.

A page on the internet can make its reader's browser send requests to 127.0.0.1. Some headers tell such requests from
honest ones, and no page can forge them:

  - Host. By DNS rebinding a page can make its own name resolve to 127.0.0.1, but the browser then sends that name here.
  - Origin. The browser names the site of the page here. Programs that are not browsers send no Origin.
  - Sec-Fetch-Site and Sec-Fetch-Mode. A browser sends no Origin when a page includes a picture or a script from here,
    or when an extension reads something that it has a permission for. Then these headers tell whether the request came
    from one of our own pages, or from a user who opens one.

Rules
  - A Host is right if it is one of our names with our port, or was configured.
  - An Origin is right if it is absent, is our own under any of our names, or was configured. `null` (a sandboxed
    frame, a local file) could be anybody and is refused unless configured.
  - Some origins may post and do nothing else: an extension that posts problems need not read a page or open a
    WebSocket.
  - Pure; the same verdicts for requests and for upgrades.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from transports.wire.refusal import Refusal

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
ANY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104  these are recognised here, not bound
DEFAULT_PORT = {"http": 80, "https": 443}
_LOOPBACK_ORIGIN = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?")


class HostPolicy(Struct, frozen=True):
    """Names and origins that are allowed in addition to our own."""

    names: tuple[str, ...] = ()
    """More names of this machine: "box.lan" (with the door's port), or "box.lan:8443" (a forwarded port)."""
    origins: tuple[str, ...] = ()
    """Foreign origins that are allowed: "https://tools.example", or "vscode-webview://*" for all of a kind."""
    posters: tuple[str, ...] = ()
    """Foreign origins that may `POST /` and nothing else."""
    loopback: bool = False
    """Whether pages of any other server on loopback are allowed, at any port."""
    setting: str = ""
    """The setting by which a user can add to `origins`, if there is one."""

    def at(self, port: int, *, secure: bool = False, hosts: Sequence[str] = ()) -> "HostRules":
        """The rules for a door that listens at this port on these hosts."""
        scheme = "https" if secure else "http"
        bound = [f"[{host}]" if ":" in host else host for host in hosts if host not in ANY_ADDRESS]
        names: set[str] = set()
        for name in (*LOOPBACK_NAMES, *bound, *self.names):
            bare, has_port = _split(name.lower())
            names.add(name.lower() if has_port else f"{bare}:{port}")
            if not has_port and port == DEFAULT_PORT[scheme]:
                names.add(bare)
        own = frozenset(f"{scheme}://{name}" for name in names)
        return HostRules(
            frozenset(names),
            own,
            Origins.of(self.origins),
            Origins.of(self.posters),
            loopback=self.loopback,
            setting=self.setting,
        )


class Origins(Struct, frozen=True):
    exact: frozenset[str]
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, origins: Sequence[str]) -> "Origins":
        exact = frozenset(origin.lower() for origin in origins if not origin.endswith("*"))
        return cls(exact, tuple(origin.lower().removesuffix("*") for origin in origins if origin.endswith("*")))

    def __contains__(self, origin: str) -> bool:
        return origin in self.exact or any(map(origin.startswith, self.kinds))


class HostRules(Struct, frozen=True):
    names: frozenset[str]
    own_origins: frozenset[str]
    origins: Origins
    posters: Origins
    loopback: bool = False
    setting: str = ""

    def check(self, hosts: Sequence[str], origins: Sequence[str], *, posts: bool = False) -> str | None:
        """Refuse, or give the foreign origin that was let in (None: no origin, or our own).

        `posts`: the request is a `POST /`, or a browser's question whether it may be made.
        """
        self._check_host(hosts)
        return self._check_origin(origins, posts=posts)

    def check_fetch(self, sites: Sequence[str], modes: Sequence[str]) -> None:
        """Checks a request without an Origin."""
        if sites and "same-origin" not in sites and "navigate" not in modes:
            raise Refusal(403, "Another page or an extension may not read this; open it in a tab, or use a program.")

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

    def _check_origin(self, origins: Sequence[str], *, posts: bool) -> str | None:
        match [origin.lower() for origin in origins]:
            case []:
                return None
            case [origin] if origin in self.own_origins:
                return None
            case [origin] if origin in self.origins or (self.loopback and _LOOPBACK_ORIGIN.fullmatch(origin)):
                return origin
            case [origin] if origin in self.posters:
                if posts:
                    return origin
                raise Refusal(403, "An extension may post problems here (POST /), and nothing else.")
            case [origin]:
                more = f" Others can be named in {self.setting}." if self.setting else ""
                raise Refusal(
                    403,
                    f"A page of {origin[:80]!r} may not use this server; its own pages may, and programs that send no "
                    f"Origin.{more}",
                )
            case _:
                raise Refusal(400, "The request has more than one Origin header.")


def _split(name: str) -> tuple[str, bool]:
    """A name without its port, and whether it had one."""
    bare, colon, port = name.rpartition(":")
    return (bare, True) if colon and port.isdigit() and (not bare.count(":") or bare.endswith("]")) else (name, False)
