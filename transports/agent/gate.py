"""The gate of the agent's port: a client without a token comes no further.

    a program                Authorization: Bearer TOKEN
    a page's fetch           the same
    a page's WebSocket       ?ticket=TICKET, which the page has got by POST /v1/tickets; it is good once, for a while
    the original's page      Sec-WebSocket-Protocol: loco.v1, loco.bearer.TOKEN (and the same with troupe for loco)

Rules
  - Tokens and tickets are compared in constant time.
  - Wrong ones are counted by the address that they come from. Above the limit further wrong ones are told to wait. The
    right one is never refused. Otherwise a program that guesses could lock out the user, who comes from the same
    address.
"""

import hmac
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence

from msgspec import Struct

from codec.words import lasting

BURST = 10
"""Wrong tokens from one address at once..."""
EACH_SECONDS = 6.0
"""...and then one more each time that so many seconds have passed."""
MOST_ADDRESSES = 1024
TICKET_SECONDS = 30.0
MOST_TICKETS = 256

ADVICE = (
    "`troupe sessions --link` prints a link with the token in it, for browsers; a program sends it as 'Authorization: "
    "Bearer TOKEN'."
)
"""Without a path: whoever is not let in learns nothing of this machine."""

_BEARER = re.compile(r"bearer +(\S+) *", re.IGNORECASE | re.ASCII)
_PROTOCOL = re.compile(r"([a-z]{1,20})\.bearer\.(\S+)", re.ASCII)


class Denial(Struct, frozen=True):
    status: int
    sentence: str
    retry_after: int | None = None


class _Failures(Struct):
    allowed: float
    at: float


class Gate:
    def __init__(self, token: str, now: Callable[[], float]) -> None:
        """`now`: seconds of a clock that only goes forward."""
        self._token = token.encode()
        self._now = now
        self._failures: OrderedDict[str, _Failures] = OrderedDict()
        self._tickets: OrderedDict[bytes, float] = OrderedDict()
        """When each ends; all for the same time, so the oldest comes first."""
        self.denied = 0

    def admit(self, token: str | None, address: str) -> Denial | None:
        """None: come in. `address`: where the request comes from."""
        if token is not None and hmac.compare_digest(token.encode("utf-8", "replace"), self._token):
            return None
        return self._deny("The token is missing." if token is None else "The token is wrong.", address)

    def admit_ticket(self, ticket: str, address: str) -> Denial | None:
        """A ticket that was good is so no more."""
        now, offered, good = self._now(), ticket.encode("utf-8", "replace"), None
        for kept, end in self._tickets.items():  # all of them: the time must not tell which
            if hmac.compare_digest(kept, offered) and now < end:
                good = kept
        if good is None:
            return self._deny("The ticket is wrong, used or too old.", address)
        del self._tickets[good]
        return None

    def ticket(self) -> tuple[str, float]:
        """A new one, and for how many seconds it is good. For those that were let in."""
        now = self._now()
        while self._tickets and (len(self._tickets) >= MOST_TICKETS or next(iter(self._tickets.values())) <= now):
            self._tickets.popitem(last=False)
        ticket = secrets.token_urlsafe(32)
        self._tickets[ticket.encode()] = now + TICKET_SECONDS
        return ticket, TICKET_SECONDS

    def _deny(self, what: str, address: str) -> Denial:
        self.denied += 1
        now = self._now()
        failures = self._failures.pop(address, None) or _Failures(BURST, now)
        failures.allowed = min(float(BURST), failures.allowed + (now - failures.at) / EACH_SECONDS) - 1
        failures.at = now
        self._failures[address] = failures
        while len(self._failures) > MOST_ADDRESSES:
            self._failures.popitem(last=False)
        if failures.allowed < 0:
            failures.allowed = max(failures.allowed, -1.0)
            wait = max(1, round((1 - failures.allowed) * EACH_SECONDS))
            return Denial(429, f"Too many wrong tokens have come from here. Try again in {lasting(wait)}.", wait)
        return Denial(401, f"{what} {ADVICE}")


def bearer(authorizations: Sequence[str]) -> str | None:
    """The token of an Authorization header."""
    if len(authorizations) != 1 or not (match := _BEARER.fullmatch(authorizations[0])):
        return None
    return match[1]


def bearer_protocol(protocols: Sequence[str]) -> tuple[str | None, str | None]:
    """The token among proposed subprotocols, and the one to accept: NAME.v1 beside NAME.bearer.TOKEN. What holds the
    token is never echoed."""
    for proposed in protocols:
        if match := _PROTOCOL.fullmatch(proposed):
            name = f"{match[1]}.v1"
            return match[2], name if name in protocols else None
    plain = [proposed for proposed in protocols if proposed in ("troupe.v1", "loco.v1")]
    return None, plain[0] if plain else None
