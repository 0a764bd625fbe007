"""Whole text messages, peeled off what a client sends before trio-websocket sees it.

wsproto spends some 30 µs on a message of 100 bytes; this spends about one. It can, for it knows one kind of frame only:
a text message in one frame, masked, without extensions, no longer than allowed. Everything else is for the library, in
pieces, and what to expect of it is said with each piece.

Rules
  - Whatever the library would do with the same bytes, happens. So a frame that breaks a rule is not judged here: from
    it on, everything is left to the library.
  - Text is peeled only between messages. While one in fragments is under way, every frame goes to the library.
  - No byte is looked at twice, however small the reads: until the rest of a frame is there, `feed` only collects.
  - Pure: bytes in, payloads and pieces out.

Unmasking: the mask and the payload behind it, read as one little-endian number, have the mask in their lowest 32 bits.
The mask times a number with a one in every fourth byte is the mask repeated, and the exclusive or of the two is the
payload. Beyond a kilobyte, four translations by tables are faster.
"""

from dataclasses import dataclass

FINAL, RESERVED, OPCODE, MASKED = 0x80, 0x70, 0x0F, 0x80
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
WHOLE_TEXT = FINAL | TEXT

MOST_AT_ONCE = 1024
"""So many messages are given at a time, however many came: whoever takes them does so in one turn, and others wait."""

SHORT = 125
"""The longest payload whose length is in the second byte of its frame."""
_SMALL = 1024
_ONES = [int.from_bytes(b"\1\0\0\0" * words, "little") for words in range(_SMALL // 4 + 2)]
_XOR = [bytes(byte ^ mask for byte in range(256)) for mask in range(256)]


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes for the library."""

    data: bytes
    ends_message: bool = False
    """With them it has a whole message."""


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing will be peeled any more: the library takes over, beginning with what `give_up` gives."""


REST = Rest()


class Peeler:
    """`feed` it, then call `next` until that gives None."""

    __slots__ = (
        "_at", "_data", "_gave_up", "_most", "_need", "_partial", "_passed", "_passing", "_passing_counts",
        "_passing_ends", "_within",
    )  # fmt: skip

    def __init__(self, message_bytes: int) -> None:
        self._most = message_bytes
        self._data = b""
        self._at = 0
        """Up to here the data has been dealt with."""
        self._partial = bytearray()
        """Bytes that are not enough. Invariant: not empty => `_data` is."""
        self._need = 0
        """So many bytes must be in `_partial` before it is worth a look."""
        self._passing = 0
        """So many bytes of a frame are still to go to the library."""
        self._passing_ends = False
        """And with the last of them it has a whole message."""
        self._passing_counts = False
        """And they are of a message."""
        self._passed = 0
        """So many bytes of a message that has not ended have gone to the library."""
        self._within = False
        """A message in fragments is under way."""
        self._gave_up = False

    def feed(self, data: bytes) -> None:
        """All before must have been taken: `next` has given None."""
        if self._partial:
            self._partial += data
            if len(self._partial) < self._need:
                return
            data = bytes(self._partial)
            self._partial = bytearray()
        self._data, self._at = data, 0

    def next(self, most: int = MOST_AT_ONCE) -> list[bytes] | Piece | Rest | None:
        """Messages, so many at most, or something for the library, or None: there is nothing more, feed."""
        if self._gave_up:
            return REST
        if self._at == len(self._data):
            self._data, self._at = b"", 0  # while nothing comes, nothing is kept
            return None
        if self._passing:
            return self._pass()
        if not self._within and (payloads := self._peel(most)):
            return payloads
        return self._other()

    @property
    def unfinished(self) -> int:
        """So many bytes of a message whose end has not come are kept, here or in the library."""
        return len(self._partial) + self._passed

    def give_up(self) -> bytes:
        """What has not been dealt with; from here on everything is for the library."""
        rest = self._data[self._at :] or bytes(self._partial)
        self._data, self._at, self._partial, self._passed, self._gave_up = b"", 0, bytearray(), 0, True
        return rest

    def _peel(self, number: int) -> list[bytes]:
        data, at, end, most = self._data, self._at, len(self._data), self._most
        payloads: list[bytes] = []
        while at + 6 <= end and data[at] == WHOLE_TEXT and len(payloads) < number:
            size = data[at + 1] - MASKED
            start = at + 6
            if size == 126 and data[at + 2]:
                size = data[at + 2] << 8 | data[at + 3]
                start = at + 8
            elif size > SHORT:
                head = _head(data, at)
                if head is None or not head.complete:
                    break
                size, start = head.size, at + head.length
            stop = start + size
            if not 0 <= size <= most or stop > end:
                break
            if size <= _SMALL:
                words = (size + 7) >> 2
                masked = int.from_bytes(data[start - 4 : stop], "little")
                plain = masked ^ (masked & 0xFFFFFFFF) * _ONES[words]
                payload = plain.to_bytes(words << 2, "little")[4 : size + 4]
            else:
                payload = _unmasked(data[start - 4 : start], data[start:stop])
            if not (payload.isascii() or _is_text(payload)):
                break
            payloads.append(payload)
            at = stop
        self._at = at
        return payloads

    def _other(self) -> Piece | Rest | None:
        """What stands in front is not a whole text message, or not yet."""
        data, at, end = self._data, self._at, len(self._data)
        if end - at < 2:
            self._wait_for(2)
            return None
        head = _head(data, at)
        if head is None or not self._in_order(head.opcode):
            return REST
        if not head.complete:
            self._wait_for(head.length)
            return None
        if head.first == WHOLE_TEXT and head.size <= self._most and not self._within:
            if end - at < head.length + head.size:
                self._wait_for(head.length + head.size)
                return None
            return REST  # it was not peeled, so it is not UTF-8
        if head.opcode < CLOSE:
            self._within = not head.final
        elif head.opcode == CLOSE:
            return REST
        self._passing = head.length + head.size
        self._passing_ends = head.opcode < CLOSE and head.final
        self._passing_counts = head.opcode < CLOSE
        return self._pass()

    def _in_order(self, opcode: int) -> bool:
        """A continuation continues something, and nothing else comes between."""
        return opcode >= CLOSE or (opcode == CONTINUATION) == self._within

    def _pass(self) -> Piece:
        data = self._data[self._at : self._at + self._passing]
        self._at += len(data)
        self._passing -= len(data)
        ends_message = self._passing_ends and not self._passing
        if self._passing_counts:
            self._passed = 0 if ends_message else self._passed + len(data)
        return Piece(data, ends_message)

    def _wait_for(self, size: int) -> None:
        self._partial = bytearray(self._data[self._at :])
        self._need = size
        self._data, self._at = b"", 0


@dataclass(frozen=True, slots=True)
class _Head:
    """The head of a frame that breaks no rule, as far as it is there."""

    first: int
    length: int
    """Of the head. While it is not complete: of what must be there to know more."""
    size: int
    """Of the payload."""
    complete: bool

    @property
    def opcode(self) -> int:
        return self.first & OPCODE

    @property
    def final(self) -> bool:
        return bool(self.first & FINAL)


def _head(data: bytes, at: int) -> _Head | None:
    """Of at least two bytes. None: it breaks a rule."""
    first, second = data[at], data[at + 1]
    opcode, size = first & OPCODE, second & ~MASKED
    if first & RESERVED or opcode not in (CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG):
        return None
    if opcode >= CLOSE and (size > SHORT or not first & FINAL):
        return None
    if not second & MASKED:
        return None
    wide = {126: 2, 127: 8}.get(size, 0)
    there = len(data) - at
    if wide:
        if there < 2 + wide:
            return _Head(first, 2 + wide, 0, complete=False)
        size = int.from_bytes(data[at + 2 : at + 2 + wide], "big")
        if size <= (SHORT if wide == 2 else 0xFFFF) or size >> 63:
            return None  # not in the shortest form, or more than there can be
    return _Head(first, 6 + wide, size, complete=there >= 6 + wide)


def _unmasked(mask: bytes, payload: bytes) -> bytes:
    plain = bytearray(len(payload))
    for place, byte in enumerate(mask):
        plain[place::4] = payload[place::4].translate(_XOR[byte])
    return bytes(plain)


def _is_text(payload: bytes) -> bool:
    try:
        payload.decode()
    except UnicodeDecodeError:
        return False
    return True
