"""What a file says: which encoding it has, whether it is text at all, which of its lines are wanted, and whether it is
one whose content nobody may pass on."""

import re
from collections.abc import Sequence
from hashlib import sha256

from codec.agent.files import FileRefused, FileText
from codec.agent.withheld import without_blocks

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_ODD = re.compile(r"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")
MOST_ODD = 0.02
"""Of the characters of a text that is neither UTF-8 nor marked."""


def decoded(data: bytes) -> tuple[str, str] | None:
    """The text and its encoding. None: it is no text. What is not UTF-8 and has no mark is read as latin-1: a guess
    that loses nothing."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding), encoding
            except UnicodeDecodeError:
                continue
    if b"\0" in data or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    try:
        return data.decode(), "utf-8"
    except UnicodeDecodeError:
        text = data.decode("latin-1")
        return None if len(_ODD.findall(text)) > MOST_ODD * len(text) else (text, "latin-1")


def file_text(path: str, data: bytes, first: int, last: int | None, most: int) -> FileText:
    """These lines. Raises FileRefused if it is no text."""
    found = decoded(data)
    if found is None:
        raise FileRefused(f"{path} is no text: it has {len(data):,} bytes of something else.")
    text, encoding = without_blocks(found[0], path), found[1]
    lines = text.split("\n")
    ends = "\n" if lines[-1] else ""
    count = len(lines) - (not lines[-1])
    first = max(first, 1)
    wanted = lines[first - 1 : count if last is None else max(min(last, count), 0)]
    part = "".join(f"{line}\n" for line in wanted)
    if ends and wanted and first - 1 + len(wanted) == count:
        part = part.removesuffix("\n")  # the file has none there
    return FileText(path, part[:most], first, count, f"sha256:{sha256(data).hexdigest()}", len(part) > most, encoding)


# -- what is kept to itself

_EXAMPLES = (".example", ".sample", ".template", ".dist", ".md", ".py", ".ts", ".js", ".go", ".rs")
_KEYS = re.compile(
    r"(?i)id_(rsa|dsa|ecdsa|ed25519)(_sk)?|.*\.(p12|pfx|jks|keystore|kdbx|ppk|ovpn|kubeconfig|tfstate(\.backup)?)"
    r"|.*[._-]private\.(pem|key)|client_secret[\w.-]*\.json|service[_-]?account[\w.-]*\.json"
)
_OTHERS = frozenset(
    (
        *("agent.token", ".netrc", "_netrc", ".pgpass", ".htpasswd", ".git-credentials", ".dockercfg"),
        *(".dockerconfigjson", ".my.cnf", ".mylogin.cnf", ".s3cfg", ".boto", ".vault_pass", ".vault-token"),
        *("credentials", "credentials.json", "credentials.csv", "credentials.toml", "credentials.tfrc.json"),
        *("kubeconfig", "pgpass.conf", "rclone.conf", ".terraformrc", "terraform.rc", "master.key", ".htdigest"),
        *(".smbcredentials", ".passwd-s3fs", ".msmtprc", ".fetchmailrc", ".authinfo", ".flaskenv", "secrets.json"),
        *("local.settings.json", "secrets.toml", "secrets.yml", "secrets.yaml"),
    )
)
_COPY = re.compile(
    r"(?: copy| \(copy\)| ?\(?\d{1,3}\)?|~|#|\.(?:bak|backup|old|orig|save|saved|copy|tmp|swp|swo|\d{1,8}))$"
)
"""What editors and people add to the name of a copy."""
_ENV = re.compile(
    r"\.env(?:rc)?(?:[._ -](?!example|sample|template|dist).*)?|.*\.env"
    r"|env\.(?:local|prod(?:uction)?|dev(?:elopment)?|stag(?:e|ing)|test|secrets?)(?:\.local)?"
)
_KEY_BLOCK = re.compile(rb"^\s*-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----", re.MULTILINE)
_HEAD = 4_096


def is_secret_name(name: str) -> bool:
    """Whether a file of this name is there to hold secrets: .env, .env.local, production.env, id_rsa, key.p12; also a
    copy of it: .env~, id_rsa.bak."""
    lowered = name.rstrip("/").rpartition("/")[2].lower()
    if lowered.endswith(_EXAMPLES):
        return False
    first = _COPY.sub("", lowered.removeprefix(".#").removeprefix("#"))
    return any(
        name in _OTHERS or _ENV.fullmatch(name) is not None or _KEYS.fullmatch(name) is not None
        for name in (lowered, first)
    )


def is_private_key(name: str, data: bytes) -> bool:
    """Whether the file begins with a private key. Source and prose may speak of keys further down."""
    head = data[:_HEAD]
    return b"PRIVATE KEY" in head and not name.lower().endswith(_EXAMPLES) and _KEY_BLOCK.search(head) is not None


def secret(path: str) -> FileRefused:
    return FileRefused(f"{path} holds secrets, as far as its name or its beginning tells. It is not read.")


# -- search

_CHUNK = re.compile(r"[^\W\d_]+|\d+")
LONGEST_LINE = 300
"""Characters of a line that is shown."""


def cut_line(line: str) -> str:
    line = line.rstrip("\r")
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"


def parts_of(word: str) -> Sequence[str]:
    """The parts of an identifier, lowercase: getUserName, get_user_name and get-user-name have the same."""
    parts = []
    for chunk in _CHUNK.findall(word):
        begin = 0
        for at in range(1, len(chunk)):
            humps = chunk[at].isupper() and (not chunk[at - 1].isupper() or chunk[at + 1 : at + 2].islower())
            if humps:
                parts.append(chunk[begin:at].lower())
                begin = at
        parts.append(chunk[begin:].lower())
    return parts
