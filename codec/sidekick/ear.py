"""Translates a peer's messages into canonical form. Each connection has its own ear.

Total: `hear` accepts any bytes at all and never raises. A message that cannot be relayed becomes a `Bad` whose sentence
names the field. If a message is translated into several and one of these is bad, the result is that `Bad` alone.
"""

from typing import Any

import msgspec

from codec.sidekick import events, fast, flat
from codec.sidekick.canonical import too_long, understand, unsound
from codec.sidekick.dialect import KEYS, Dialect, is_released_e, release
from codec.sidekick.messages import Announce, Bad, Event, Said, Spawn, Update
from codec.sidekick.old_hero import CannotBeSaid, OldHero
from codec.sidekick.repair import repaired
from codec.sidekick.shapes import VIZ_ACTIONS, VizChange
from codec.sidekick.weight import MOST_VALUES, is_too_much
from codec.sidekick.wording import sentence
from codec.sidekick.words import BY_E

Message = dict[str, Any]

MODERN = frozenset((Dialect.D, Dialect.E))


class Ear:
    """Holds the dialect, and the few facts that later messages refer to.

    `dialect` becomes E when a D peer turns out to speak it. `version` is the announced version, "" until then.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.version = ""
        self._is_modern = dialect in MODERN
        self._hero = OldHero(None if dialect is Dialect.C else (0, 0, 0))
        self._decode = (fast.MODERN if self._is_modern else fast.OF_C).decode
        """Decodes the peer's most frequent messages. For a peer that has turned out to be a modern UI, these are
        events."""

    def hear(self, data: bytes) -> Said | list[Said]:
        if len(data) > MOST_VALUES and is_too_much(data):
            return Bad("system", "", f"a message must not hold more than {MOST_VALUES:,} values")
        try:
            message = self._decode(data)
            payload = message.payload
            if data.isascii() or data.decode():
                if message.type == "event":
                    return Event(message.component, message.src, payload, data)
                action = payload.action
                if type(payload) is VizChange and (action not in VIZ_ACTIONS or unsound(payload)):
                    return self._hear_closely(data)
                if self._is_modern:
                    return Update(message.component, message.target, action, payload, data)
                raw = fast.with_component(data)
                if raw is not None and not self._hero.writes_lines:
                    return Update(message.component, message.target, action, payload, raw)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            pass
        return self._hear_closely(data)

    def _hear_closely(self, data: bytes) -> Said | list[Said]:
        try:
            data.decode()
            try:
                message, raw = msgspec.json.decode(data), data
            except msgspec.DecodeError as error:
                mended = repaired(data)
                if mended is None:
                    return Bad("system", "", f"a message must be JSON: {_lowered(str(error))}")
                message, raw = msgspec.json.decode(mended), mended
            return self._understand(message, raw)
        except UnicodeDecodeError as error:
            return Bad("system", "", f"a message must be UTF-8: byte {error.start} is not")
        except RecursionError:
            return Bad("system", "", "a message must not be nested so deeply")
        except (msgspec.MsgspecError, ValueError, OverflowError) as error:
            return Bad("system", "", f"a message must be JSON with numbers of a usual size: {_lowered(str(error))}")

    def _understand(self, message: Any, raw: bytes) -> Said | list[Said]:
        if self._is_modern or not isinstance(message, dict) or "component" in message:
            said = understand(message, raw)
            self._learn(said, message)
            return said
        return self._translate(message, raw)

    def _learn(self, said: Said, message: Any) -> None:
        """Learns about the speaker from this message."""
        match said:
            case Announce(version=version):
                self.version = version
                if self.dialect is Dialect.C:
                    self._hero.release = release(version)
                elif self.dialect is Dialect.D and is_released_e(version):
                    self.dialect = Dialect.E
            case Bad():
                pass
            case Event() if self._is_modern:
                self._decode = fast.OF_A_UI.decode
            case Spawn() | Update() if self.dialect is Dialect.D and _is_in_words_of_e(message):
                self.dialect = Dialect.E

    # --- A, B and C ---------------------------------------------------------------------------------------------------

    def _translate(self, message: Message, raw: bytes) -> Said | list[Said]:
        module, method = KEYS[self.dialect]
        was = message.get(module), message.get(method)
        if self.dialect is Dialect.A and all(isinstance(key, str) for key in was) and "payload" in message:
            message = {**message, "payload": flat.nested(str(was[0]), str(was[1]), message["payload"])}
        names = {module: "component", method: "type"}
        message = {names.get(key, key): value for key, value in message.items() if key in names or key != "type"}
        if wrong := too_long(message):
            return wrong
        if message.get("type") == "notify" and self.dialect is not Dialect.C:
            message["type"] = "event"
        try:
            translated = self._in_canonical_words(message)
        except CannotBeSaid as error:
            component, target = message["component"], message["target"]
            doing = error.doing or message["payload"].get("action", "update")
            return Bad(component, target, sentence(component, target, doing, str(error)))
        # A message of C, unchanged except for its envelope: keep the peer's own bytes behind the first key.
        is_untouched = self.dialect is Dialect.C and len(translated) == 1 and translated[0] is message
        kept = fast.with_component(raw) if is_untouched else None
        said: list[Said] = []
        for one in translated:
            heard = understand(one, kept)
            if isinstance(heard, Bad):
                return heard
            said.append(heard)
        if len(said) != 1:
            return said
        self._learn(said[0], message)
        return said[0]

    def _in_canonical_words(self, message: Message) -> list[Message]:
        if message.get("type") == "event":
            return [events.heard(message, self.dialect)]
        if message.get("type") == "error" and message.get("component") == "control":
            return [{**message, "component": "column"}]
        return self._hero.translate(message)


def _is_in_words_of_e(message: Message) -> bool:
    """Whether a valid spawn or update uses words of E. Only heroes send the messages that differ."""
    payload = message.get("payload") or {}
    words = BY_E.get((message["component"], payload["action"] if message["type"] == "update" else None))
    return words is not None and (words.action is not None or not words.fields.keys().isdisjoint(payload))


def _lowered(text: str) -> str:
    """A decoder's complaint without its path, which names no field of a message that was not understood."""
    text = text.partition(" - at `")[0]
    return text if text.startswith("JSON") else text[:1].lower() + text[1:]
