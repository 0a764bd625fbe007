"""Peels whole text messages off a client's data before trio-websocket sees it.

wsproto spends some 30 µs on a message of 100 bytes; the peeler spends about one. It can do so because it knows only one
kind of frame: a text message in one frame, masked, without extensions, no longer than allowed. Everything else goes to
the library in pieces, and each piece says whether it ends a message.

Rules
  - The result is always the same as if the library had read all the bytes. So a frame that breaks a rule is not judged
    here: that frame and everything after it are left to the library.
  - Text is peeled only between messages. Within a fragmented message, every frame goes to the library.
  - No byte is looked at twice, however small the reads are: until a frame is complete, `feed` only collects.
  - Pure: bytes in, payloads and pieces out.

Unmasking: the mask and the payload behind it, read as one little-endian number, have the mask in their lowest 32 bits.
The mask times a number with a one in every fourth byte is the mask repeated, and the exclusive or of the two is the
payload. Beyond a kilobyte, four translations by tables are faster.
"""

from msgspec import Struct

FINAL, RESERVED, OPCODE, MASKED = 0x80, 0x70, 0x0F, 0x80
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
WHOLE_TEXT = FINAL | TEXT

MOST_AT_ONCE = 1024
"""The most messages that `next` returns at a time. The receiver handles them in one turn, while all other tasks
wait."""

SHORT = 125
"""The longest payload whose length is in the second byte of its frame."""
_SMALL = 1024
_ONES = [int.from_bytes(b"\1\0\0\0" * words, "little") for words in range(_SMALL // 4 + 2)]
_XOR = [bytes(byte ^ mask for byte in range(256)) for mask in range(256)]


class Piece(Struct, frozen=True):
    """Bytes for the library."""

    data: bytes
    ends_message: bool = False
    """With these bytes the library has a whole message."""


class Rest(Struct, frozen=True):
    """Nothing will be peeled any more: the library takes over, beginning with the bytes that `give_up` returns."""


REST = Rest()


class Peeler:
    """Call `feed` with data, then `next` until it returns None."""

    __slots__ = (
        "_at", "_data", "_gave_up", "_most", "_need", "_partial", "_passed", "_passing", "_passing_counts",
        "_passing_ends", "_within",
    )  # fmt: skip

    def __init__(self, message_bytes: int) -> None:
        self._most = message_bytes
        self._data = b""
        self._at = 0
        """The position in `_data` up to which it has been processed."""
        self._partial = bytearray()
        """The beginning of an incomplete frame. Invariant: if it is not empty, `_data` is."""
        self._need = 0
        """How many bytes `_partial` must have before it is looked at again."""
        self._passing = 0
        """How many bytes of the current frame have still to go to the library."""
        self._passing_ends = False
        """Whether that frame ends a message."""
        self._passing_counts = False
        """Whether that frame belongs to a message (a ping or pong does not)."""
        self._passed = 0
        """How many bytes of an unfinished message have gone to the library."""
        self._within = False
        """Whether a fragmented message is unfinished."""
        self._gave_up = False

    def feed(self, data: bytes) -> None:
        """Add data. It may only be called after `next` has returned None."""
        if self._partial:
            self._partial += data
            if len(self._partial) < self._need:
                return
            data = bytes(self._partial)
            self._partial = bytearray()
        self._data, self._at = data, 0

    def next(self, most: int = MOST_AT_ONCE) -> list[bytes] | Piece | Rest | None:
        """At most `most` messages, or something for the library. None: everything is processed, and `feed` is next."""
        if self._gave_up:
            return REST
        if self._at == len(self._data):
            self._data, self._at = b"", 0  # do not keep the data until more comes
            return None
        if self._passing:
            return self._pass()
        if not self._within and (payloads := self._peel(most)):
            return payloads
        return self._other()

    def texts(self, most: int) -> list[bytes]:
        """The texts that come before anything else, at most `most` of them. `next` goes on with the rest, if there is
        any."""
        if self._gave_up or self._passing or self._within or not self._data:
            return []
        texts = self._peel(most)
        if self._at == len(self._data):
            self._data, self._at = b"", 0
        return texts

    @property
    def is_empty(self) -> bool:
        """Everything is processed, and no message is unfinished."""
        return not (self._data or self._partial or self._within or self._passing or self._gave_up)

    @property
    def unfinished(self) -> int:
        """How many bytes of an unfinished message are kept, here or in the library."""
        return len(self._partial) + self._passed

    def give_up(self) -> bytes:
        """Stop peeling. Returns the bytes that are not processed: they, and all further ones, are for the library."""
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
        """Process a frame that is not a whole text message, or not yet."""
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
        """Whether a frame with this opcode may come now: within a fragmented message only a continuation may, otherwise
        anything else. Control frames may come at any time."""
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


class _Head(Struct, frozen=True):
    """The head of a frame that breaks no rule, perhaps incomplete."""

    first: int
    length: int
    """The length of the head. If it is incomplete: how many bytes are needed to know more."""
    size: int
    """The length of the payload."""
    complete: bool

    @property
    def opcode(self) -> int:
        return self.first & OPCODE

    @property
    def final(self) -> bool:
        return bool(self.first & FINAL)


def _head(data: bytes, at: int) -> _Head | None:
    """Read the head of a frame; at least two bytes must be there. None: it breaks a rule."""
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
            return None  # not in the shortest form, or too large for the protocol
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
