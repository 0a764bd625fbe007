"""What a case's file is known by, so that a problem which is sent again adds nothing."""

import hashlib


def fingerprint(content: bytes = b"") -> "hashlib._Hash":
    """Can be updated with what follows; its `digest()` names the whole."""
    return hashlib.sha256(content)
