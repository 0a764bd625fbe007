"""Makes names for folders from texts that others chose.

Such a name is valid on every file system and is a single part of a path: letters and digits of any script, and `_ - +
.` inside. It is short, in one Unicode form, and not a device of Windows. If something of the text had to be left out,
the name ends in a digest of the text, so different texts always have different names.
"""

import hashlib
import re
import unicodedata

LONGEST = 60
"""Characters, before the digest."""
LONGEST_BYTES = 150
DIGEST = 6

_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)", re.IGNORECASE)
_MARKS = ("Mn", "Mc")
"""Vowel signs are kept, because many scripts cannot be read without them."""
_SPACING = re.compile(r"[\s.,:;!?'\"()\[\]{}&/#_\u2010-\u2015\u3000-\u3002\u300c-\u300f-]+")
"""Characters that can be left out without making it another title."""


def of_id(text: str, beside: str = "") -> str:
    """A name for an id: the id itself, if it is valid. `beside` distinguishes it from others with the same id."""
    name = _cleaned(text)
    if beside:
        return _with_digest(name, beside)
    return name if name == unicodedata.normalize("NFC", text) and not _DEVICE.match(name) else _with_digest(name, text)


def of_title(text: str) -> str:
    """A name for a title: `A. Watermelon` is `a-watermelon`."""
    spaced = _SPACING.sub(" ", text.casefold()).strip().replace(" ", "-")
    name = _cleaned(spaced)
    whole = name and name == unicodedata.normalize("NFC", spaced) and not _DEVICE.match(name)
    return name if whole else _with_digest(name, text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST]


def _cleaned(text: str) -> str:
    """The usable part of the text; empty if there is none."""
    kept = "".join(each if _may_stand(each) else "-" for each in unicodedata.normalize("NFKC", text))
    name = re.sub(r"\.{2,}", ".", re.sub(r"-{2,}", "-", kept)).strip("-.")[:LONGEST]
    return unicodedata.normalize("NFC", name.encode()[:LONGEST_BYTES].decode("utf-8", "ignore")).strip("-.")


def _may_stand(each: str) -> bool:
    return each.isalnum() or each in "_-+." or unicodedata.category(each) in _MARKS


def _with_digest(name: str, text: str) -> str:
    if _DEVICE.match(name):  # Windows looks no further than the first dot
        name = name.replace(".", "-")
    return f"{name or 'unnamed'}-{_digest(text)}"
