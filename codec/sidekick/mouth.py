"""Translates canonical messages into a peer's dialect.

Peers of D get `raw` as it is, and peers of E the same except for a few words. So all peers of D share one mouth, and so
do all peers of E. For A to C a message is translated into none (the dialect has no word for it), one or several. The
result depends on what the peer already shows, so each of these peers has its own mouth.

Total: only valid messages are translated. An unknown one (`Other`) is put into the peer's envelope unread. A message
may be nested as deeply as an ear can just decode, and then be too deep to be decoded again where the stack has less
room. Such a message goes only to peers of D, which get it as it is.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from codec.sidekick import events, fast, flat
from codec.sidekick.dialect import KEYS, Dialect, release
from codec.sidekick.messages import Announce, Bad, Event, Fault, Other, Said, Spawn, Update
from codec.sidekick.old_screen import OldScreen
from codec.sidekick.retold import retold
from codec.sidekick.words import BY_D, to_e
from codec.sidekick.written import encode

Message = dict[str, Any]

SAME_IN_C = frozenset(("grid", "canvas", "console", "viz"))
E_DIFFERS = frozenset(component for component, _ in BY_D)
SIGNS_OF_E = (*(component.encode() for component in sorted(E_DIFFERS)), b"\\u")
"""Bytes that E may say in another way contain the name of such a component, or an escape that could hide its name."""

write = msgspec.json.Encoder().encode


class Mouth:
    """`version` is the version that the peer announced. It matters because C has three variants."""

    def __init__(self, dialect: Dialect, version: str = "") -> None:
        self.dialect = dialect
        spoken = release(version) if dialect is Dialect.C else (0, 0, 0)
        self._screen = OldScreen(spoken, knows_clear=dialect is not Dialect.A)

    def say_all(self, messages: Iterable[Said]) -> list[bytes]:
        """The translations of all these messages, in order."""
        if self.dialect is Dialect.D:
            return [one.raw if type(one) is Update and one.raw else encode(one) for one in messages]
        told: list[bytes] = []
        for one in messages:
            if type(one) is Update and one.raw and self.dialect is Dialect.E and one.component not in E_DIFFERS:
                told.append(one.raw)  # nearly all messages
                continue
            match self.say(one):
                case bytes(text):
                    told.append(text)
                case list(texts):
                    told += texts
        return told

    def keeps(self, raw: bytes) -> bool:
        """Whether canonical bytes are sent unchanged, as far as we can tell without decoding them."""
        if self.dialect is Dialect.E:
            return not any(sign in raw for sign in SIGNS_OF_E)
        return self.dialect is Dialect.D

    def say(self, message: Said) -> bytes | list[bytes] | None:
        if self.dialect is Dialect.D:
            return encode(message)
        if isinstance(message, Bad):
            message = Fault(message.component, message.target, message.sentence)
        if isinstance(message, Fault) and not message.raw:  # we made it ourselves
            has_old_canvas = not self._screen.is_newest
            told = retold(message.component, message.src, message.message, self.dialect, has_old_canvas=has_old_canvas)
            message = Fault(message.component, message.src, told)
        try:
            return self._translate(message)
        except RecursionError:
            return None

    def _translate(self, message: Said) -> bytes | list[bytes] | None:
        match self.dialect:
            case Dialect.E:
                return self._say_e(message)
            case Dialect.C if type(message) is Update and message.component in SAME_IN_C and self._screen.is_newest:
                if message.action != "changeParent" and (told := fast.with_module(encode(message))):
                    return told
        return self._say_old(message)

    def _say_e(self, message: Said) -> bytes:
        raw = encode(message)
        if not isinstance(message, Spawn | Update) or message.component not in E_DIFFERS:
            return raw
        plain = msgspec.json.decode(raw)
        action = message.action if isinstance(message, Update) else None
        payload = to_e(message.component, action, plain["payload"])
        return raw if payload is None else write({**plain, "payload": payload})

    def _say_old(self, message: Said) -> bytes | list[bytes] | None:
        if self.dialect is Dialect.A and isinstance(message, Announce):
            return None
        is_flat = self.dialect is Dialect.A and not isinstance(message, Other)
        words = self._in_old_words(message, msgspec.json.decode(encode(message)))
        told = [write(self._enveloped(one, is_flat)) for one in words]
        return told[0] if len(told) == 1 else told or None

    def _in_old_words(self, said: Said, message: Message) -> list[Message]:
        match said:
            case Event():
                told = events.said(message, self.dialect)
                return [] if told is None else [told]
            case Fault():
                return [events.fault(message)]
            case Announce() | Bad():
                return [message]
        return self._screen.show(said, message)

    def _enveloped(self, message: Message, is_flat: bool) -> Message:
        """The message in this dialect's envelope, flat if the dialect is. No other field may use the envelope's
        keys."""
        component, what = message["component"], message["type"]
        module, method = KEYS[self.dialect]
        if what == "event" and self.dialect is not Dialect.C:
            what = "notify"
        others = {key: value for key, value in message.items() if key not in ("component", "type", module, method)}
        told = {module: component, method: what, **others}
        if is_flat:
            told["payload"] = flat.flattened(component, what, message.get("payload"))
        return told


COMMON = {dialect: Mouth(dialect) for dialect in (Dialect.D, Dialect.E)}
"""The mouths that all peers of a dialect share."""
