"""The frames between a crew's owner and its members. Pure; both sides import it.

    owner -> member                              member -> owner
    ORDER  what is to be done                    READY  it has started; once, before anything else
    STOP   the order that is being done is no    PART   something of an order that is being done
           longer wanted                         DONE   the order is done; what came of it
                                                 LEFT   the same, and the member ends now: it has grown too large
                                                 FAILED the order could not be done; a sentence that says why

A frame is its length in four bytes, its kind in one, and its body. A member does one order at a time, and answers each
with one DONE, LEFT or FAILED, also one that was stopped. So a STOP that comes when nothing is being done is late, and
ignored, and cannot hit the next order.
"""

ORDER, STOP = b"o", b"s"
READY, PART, DONE, LEFT, FAILED = b"r", b"p", b"d", b"l", b"f"

MOST_BYTES = 4 << 20
"""The longest body."""
_HEAD = 5


class BrokenFrame(Exception):
    """Whatever the other side sends, it is no frame."""


def frame_of(kind: bytes, body: bytes = b"") -> bytes:
    if len(body) > MOST_BYTES:
        raise BrokenFrame(f"a frame of {len(body):,} bytes; at most {MOST_BYTES:,} are allowed")
    return len(body).to_bytes(4, "big") + kind + body


def next_frame(held: bytearray) -> tuple[bytes, bytes] | None:
    """Removes the first frame from `held`, and returns its kind and body; None if it is not complete yet."""
    if len(held) < _HEAD:
        return None
    length = int.from_bytes(held[:4], "big")
    if length > MOST_BYTES:
        raise BrokenFrame(f"a frame of {length:,} bytes; at most {MOST_BYTES:,} are allowed")
    if len(held) < _HEAD + length:
        return None
    kind, body = bytes(held[4:5]), bytes(held[_HEAD : _HEAD + length])
    del held[: _HEAD + length]
    return kind, body
