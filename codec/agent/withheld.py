"""What must not reach a prompt: keys, passwords and the values of `.env` files.

Each is replaced by ***, and nothing else is: what a model reads is code, in which `token` and `password` are ordinary
names. So a value is withheld if it has the shape of a known kind of key (key_shapes.py), or if a secret's name is given
a value that looks like none that a person would choose as an ordinary word. Line breaks stay, so line numbers stay
true.

YAML needs no quotes, so there a password looks like a name in code. In a file of YAML (withheld_yaml.py), and in other
files of settings, whatever is given to a secret's name is withheld; in a text of unknown origin, a line that holds
nothing else and whose value has a digit. Markup has its own file (withheld_markup.py), and so have values that stand on
other lines than their names (withheld_across.py), and what only the form of a file tells (withheld_files.py).

This is a net with holes: a short password in the middle of a sentence is not found.
"""

import re
from collections.abc import Mapping
from typing import Any

from codec.agent.key_shapes import without_keys
from codec.agent.secret_values import (
    SHORT,
    WORDS,
    is_code,
    is_given,
    is_literal,
    is_paired,
    is_placeholder,
    is_type,
    is_written,
    names_secret,
    unlikely,
)
from codec.agent.withheld_across import across
from codec.agent.withheld_files import of_files
from codec.agent.withheld_markup import is_markup_of_settings, markup_withheld
from codec.agent.withheld_yaml import is_yaml, without_yaml_blocks, yaml_withheld
from codec.redaction import BLANK, is_secret

_BLOCK = re.compile(
    r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----)(.*?)"
    r"(-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|---- END SSH2 ENCRYPTED PRIVATE KEY ----|\Z)",
    re.DOTALL,
)
_IN_ADDRESS = re.compile(r"(://[^/\s:@'\"]{0,100}:)(?![${<%\[*])[^/\s@'\"]{1,200}@")
_USER_OF_ADDRESS = re.compile(r"(://)([\w.~%-]{16,200})@(?=[\w.-])")
"""A token in the place of the user: https://TOKEN@github.com."""
_PUTTY = re.compile(r"(?m)^(Private-Lines:[ \t]*\d{1,3}\s*\n)((?:[A-Za-z0-9+/=]{1,80}\r?\n?)+)")
_LOGIN = re.compile(r"(?i)(\blogin[ \t]+\S{1,200}[ \t]+passw(?:or)?d[ \t]+)(\S{4,500})")
"""A line as of .netrc."""
_OF_SQL = re.compile(
    r"(?i)(\b(?:identified[ \t]+(?:with[ \t]+\w{1,40}[ \t]+)?by|password)[ \t]+)(['\"])([^\s'\"]{4,500})(?=\2)"
)
_OF_CURL = re.compile(r"((?<![\w-])(?:-u|--user)[ \t=]*(['\"]?)[\w.@-]{1,80}:)([^\s'\"]{4,500})")
_OF_CLIENTS = re.compile(
    r"""(\b(?: (?:mysql|mariadb)[\w-]*[ \t](?:[^\n|;&]{0,300}[ \t])?-p | sshpass[ \t]+-p[ \t]*
      | redis-cli[ \t](?:[^\n|;&]{0,300}[ \t])?-a[ \t]+
      | mongo(?:sh|dump|restore)?[ \t](?:[^\n|;&]{0,300}[ \t])?-p[ \t]*
      | (?:docker|podman)[ \t]login[ \t](?:[^\n|;&]{0,300}[ \t])?-p[ \t]*
      | twine[ \t]upload[ \t](?:[^\n|;&]{0,300}[ \t])?-p[ \t]+
      | (?:un)?zip[ \t](?:[^\n|;&]{0,300}[ \t])?-P[ \t]*
      | 7z[a-z]?[ \t](?:[^\n|;&]{0,300}[ \t])?-p
      | sqlcmd[ \t](?:[^\n|;&]{0,300}[ \t])?-P[ \t]*
      | ldap(?:search|add|modify|delete|passwd|whoami)[ \t](?:[^\n|;&]{0,300}[ \t])?-w[ \t]*
      | (?:keytool|jarsigner)[ \t](?:[^\n|;&]{0,300}[ \t])?-(?:(?:src|dest)?(?:store|key)pass|new)[ \t]+
      | openssl[ \t](?:[^\n|;&]{0,300}[ \t])?(?:-k[ \t]+|-pass(?:in|out)?[ \t]+['"]?pass:)
      | (?:smbclient|smbget|rpcclient)[ \t](?:[^\n|;&]{0,300}[ \t])?-U[ \t]*['"]?[\w.\\/-]{1,80}%
      | https?[ \t](?:[^\n|;&]{0,300}[ \t])?(?:-a|--auth)[ \t=]*['"]?[\w.@-]{1,80}:
      | htpasswd[ \t]+-(?=\w{0,8}b)(?:(?=\w{0,8}n)\w{1,9}|\w{1,9}[ \t]+[^\s-]\S{0,200})[ \t]+[^\s-]\S{0,80}[ \t]+
      | net[ ]use[ \t]+(?:(?:[A-Za-z]:|\*)[ \t]+)?\\\\[^\s'"]{1,200}[ \t]+(?!['"]?/)
    )(['"]?)) (?!-) ([^\s'"]{4,500})""",
    re.VERBOSE,
)
"""Where the option of a command is a password, whatever it looks like. mysql takes it only without a blank between."""
_OF_PIPES = re.compile(
    r"""(\b(?:echo|printf)[ \t]+(?:-\w{1,3}[ \t]+)?(?:(?:'%s(?:\\n)?'|"%s(?:\\n)?"|%s)[ \t]+)?
      (['"]?)(?:[\w.-]{1,80}:(?=[^\n|]{1,500}\|[ \t]*(?:sudo[ \t]+)?(?:/usr/sbin/)?chpasswd))?)
    ([^\s'"|]{4,500})(?=\2[ \t]*\|[ \t]*
      (?: sudo[ \t]+(?:-\w{1,9}[ \t]+){0,4}-\w{0,8}S
      | (?:sudo[ \t]+)? (?:[\w/]{1,40}[ \t][^\n|]{0,300}(?:--password-stdin|--stdin)|(?:/usr/sbin/)?chpasswd)))""",
    re.VERBOSE,
)
"""What is said to a command that reads a password, whatever it looks like."""
_HEADER = re.compile(r"(?i)\b((?:bearer|basic)\s+)([\w.~+/=-]{12,})")
_NAMED = re.compile(
    r"""(?<![\w.-])(?P<name>[A-Za-z_][\w.-]{1,80})\\?['"]?(?P<sign>\s*(?::=|[:=])\s*)(?P<quote>b?\\?['"`]?)"""
    r"""(?P<value>[^\s'"`,;]{4,500})"""
)
_QUOTED = re.compile(
    r"""(?<![\w.-])(?P<name>[A-Za-z_][\w.-]{1,80})(?P<sign>
        \\?['"]?\][ \t]*(?:\|\||\?\?)?=[ \t]*                  # environ["TOKEN"] = "..."
      | \[\w{0,20}\][ \t]*=[ \t]*                             # char token[32] = "..."
      | [ \t]*:[ \t]*(?:&(?:'\w+[ \t]+)?)?[A-Za-z_][\w.\[\],|<>? ]{0,60}=[ \t]*    # token: str = "..."
      | [ \t]+(?:string[ \t]*=|\{[^{}]{0,40}\}[ \t]*=)[ \t]*  # token string = "...", Token { get; } = "..."
      | \\?['"]?[ \t]*=>[ \t]*                                # :token => "..."
      | \\?['"][ \t]*,[ \t]*                                  # define('TOKEN', '...')
      | \\?['"]?[)\]]{0,2}[ \t]*(?:\bor\b|\|\||\?\?|\?:)[ \t]*   # env.TOKEN || "..."
      | \\?['"]?[ \t]*[:=][ \t]*                              # token = '''...'''; also with , and ; within
    )(?P<quote>[bfruL@]{0,2}(?:\"{3}|'{3}|\\?['"`]))(?P<value>[^\s'"`]{4,500})""",
    re.VERBOSE,
)
"""Other ways in which code gives a name a text. Here the quote is needed: without one it may be anything. In a
notebook, or another text of JSON, it is escaped."""
_JOINED = re.compile(
    r"""(?<![\w.-])(?P<name>[A-Za-z_][\w.-]{1,80})\\?['"]?[\])]?(?:[ \t]*:[ \t]*[\w.&]{1,60}(?=[ \t]*=))?"""
    r"""[ \t]*(?::=|=>|=|:)[ \t]*(?P<pieces>\(?[bfruL@]{0,2}(['"`])[^'"`\s]{1,500}\3"""
    r"""(?:[ \t]*+(?:(?:\+|\.{1,2}|&|<>)[ \t]*+)?[bfruL@]{0,2}(['"`])[^'"`\s]{1,500}\4)+)"""
)
"""A text in several pieces on one line: "abc" + "def", or without a sign between."""
_PIECE = re.compile(r"""(['"`])([^'"`\s]+)\1""")
_GIVEN = re.compile(
    r"""(?:\#[ \t]*define[ \t]+|\b(?:ENV|setenv|SetEnv|set)[ \t]+|(?<![\w-])--?|\b(?=[sS]et|with))"""
    r"""(?P<name>[A-Za-z_][\w.-]{1,80})(?P<sign>[ \t]*[ \t(=][ \t]*)(?P<quote>[LbR]?['"]?)(?P<value>[^\s'"`]{4,500})"""
)
"""Where words stand side by side: #define TOKEN "...", ENV TOKEN ..., --token ..., set_token("...")."""
_PAIR = re.compile(
    r"""(?<![\w-])(?i:name|key|id|variable|field|param(?:eter)?(?:_?(?:name|key))?)\\?['"]?[ \t]*[:=][ \t]*"""
    r"""\\?(?P<named>['"]?)"""
    r"""(?P<name>[A-Za-z_][\w./:-]{1,80})\\?(?P=named)[ \t]*[,; \t][ \t]*\\?['"]?"""
    r"""(?i:value|val|default|content|param(?:eter)?_?value)\\?['"]?[ \t]*[:=][ \t]*"""
    r"""\\?(?P<quote>['"]?)(?P<value>[^\s'",;{}()\[\]]{1,500})"""
)
"""A name and a value as two entries of a line: {"name": "DB_PASSWORD", "value": "..."}."""
_SET = re.compile(
    r"^(?P<head>[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][\w.-]*)[ \t]*:?[=:][ \t]*)"
    r"(?P<value>[^\s\[{](?:.*\S)?)(?P<tail>\s*)$"
)
_SETTINGS = (".ini", ".cfg", ".conf", ".cnf", ".properties", ".toml", ".mk", "Makefile")
_FILES = (".env", ".flaskenv", ".npmrc", ".pypirc", ".netrc", ".yarnrc", ".yarnrc.yml", ".git-credentials")
_STAGE = re.compile(r"env\.(?:local|prod(?:uction)?|dev(?:elopment)?|stag(?:e|ing)|test|secrets?)(?:\.local)?")
"""The same without the dot. env.py and env.d.ts are code."""
_TRANSLATED = ".properties"
"""Such files hold what a program shows, too."""
_ENDS: Mapping[str, re.Pattern[str]] = {
    word: re.compile(rf"(?:{form})(?![a-z0-9])")
    for word, form in {
        **{word: f"{word}s?" for word in WORDS},
        "passw": "passw(?:or)?ds?",
        "key": "keys?|key-?data|key_?base",
    }.items()
}
"""How the names of secrets end, by words that one of them has. Nearly all lines have none, and need no closer look."""
_CLIENTS = (
    *("mysql", "mariadb", "sshpass", "redis-cli", "mongo", "docker login", "podman login", "twine upload", "zip", "7z"),
    *("sqlcmd", "ldap", "keytool", "jarsigner", "openssl", "smbclient", "smbget", "rpcclient", "http ", "https "),
    *("htpasswd", "net use", "sudo "),
)
_COMMANDS = ("curl ", *_CLIENTS)
"""Anywhere in the line behind one of these may be an option. If there is none, nor is one behind the next of them."""
_HEADS = ("bearer", "basic", "identified", *_COMMANDS)
_HEAD = re.compile(
    r"(?:bearer|basic)[^\S\n]+[\w.~+/=-]{12}|identified[^\S\n]+(?:by|with)\b|curl[^\S\n][^\n]*-u"
    rf"|(?:{'|'.join(map(str.rstrip, _CLIENTS))})[^\n]*[^\S\n](?:-[-pawksdnuUb]|\\\\)"
)
_BEFORE_KEY = (
    *("api", "private", "access", "signing", "session", "secret", "encryption", "master", "auth", "account", "storage"),
    *("license", "deploy", "role", "client"),
    *("openai", "anthropic", "mistral", "groq", "gemini", "stripe", "sendgrid", "twilio"),
)
"""What makes a `key` a secret's, with or without one of these between them, or a letter beyond ASCII."""
_BETWEEN = frozenset("_-./:")
_UNLIKELY = re.compile(r"\d|[^\s'\"`]{20}")
"""In every line of ASCII with a value that nobody would write as an ordinary word."""
_VARIABLES = re.compile(
    r"""(?x) (?: [ \t]*(?:\#[^\n]*)?\n
    | (?:export[ \t]+)? [A-Z][A-Z0-9_]* = (?!\(|[^\n]*(?:\$\(|`)) (?>"[^"]*"|'[^']*'|[^\n]*) [ \t\r]* (?:\n|\Z) )++"""
)
"""A whole file of nothing but variables, none of which is computed."""
_VARIABLE_NAME = re.compile(r"(?m)^(?:export[ \t]+)?([A-Z][A-Z0-9_]*)=")
_EXAMPLES = (".example", ".sample", ".template", ".dist")
_BRACKETS = frozenset("()[]{}<>")
_SETTING = re.compile(r"(?m)^([^\S\n]*(?:export\s+)?[A-Za-z_][\w.-]*\s*=[ \t]*)(?!\s*$)(.+)$")
_VARIABLE = re.compile(
    r"(?m)^((?:[^=\n]{0,300}[:\-\s])?(?:[A-Z][A-Z0-9_]*_)?"
    r"(?:[A-Z]*TOKEN|(?:API|ACCESS|PRIVATE|SECRET|MASTER)?KEYS?|[A-Z]*SECRETS?|[A-Z]*PASSWORDS?|PASSWD|PASS|PASSPHRASE"
    r"|CREDENTIALS?|AUTH|COOKIE|DSN)"
    r"=)(?!\*\*\*)\S.*$"
)
_MULTILINE = re.compile(r"""(?ms)^([^\S\n]*(?:export\s+)?[A-Za-z_][\w.-]*\s*=[ \t]*)(["'])((?:\\.|(?!\2).)*)\2""")


_BARE = re.compile(
    r"[ \t]*(?:-[ \t]+)?(?P<name>[A-Za-z_][\w.-]*):[ \t]+(?P<value>[^\s'\"`,;(){}\[\]$<%]{6,500})[ \t\r]*"
)


def is_settings(path: str) -> bool:
    """Whether the values of this file are withheld, whatever they look like: .env, production.env, terraform.tfvars."""
    name = path.rstrip("/").rpartition("/")[2].lower()
    if name.endswith(_EXAMPLES):
        return False
    if name in _FILES or name.startswith(".env.") or name.endswith((".env", ".tfvars", ".tfvars.json")):
        return True
    return _STAGE.fullmatch(name) is not None


def withheld(text: str, path: str = "") -> str:
    """The text without secrets; `path`: where it comes from, if that is a file."""
    if path and is_settings(path):
        return _settings(text)
    text = without_private_keys(text)
    if path and _is_settings_elsewhere(text, path):
        return _settings(text)
    text = of_files(text, path)
    if is_yaml(path):
        text = yaml_withheld(text)
    text = without_keys(text)
    if "://" in text:
        text = _USER_OF_ADDRESS.sub(_user, _IN_ADDRESS.sub(rf"\1{BLANK}@", text))
    ends = _closer(text)
    if ends and (without := across(text, path, ends)) is not text:
        text, ends = without, _closer(without)
    return _by_lines(text, ends, path)


def _is_settings_elsewhere(text: str, path: str) -> bool:
    """Whether it is such a file under another name: one that was renamed, or copied to be kept."""
    if path.lower().endswith(_EXAMPLES) or "=" not in text or _VARIABLES.fullmatch(text) is None:
        return False
    return any(names_secret(name, "?") for name in _VARIABLE_NAME.findall(text))


def settings_withheld(text: str) -> str:
    """The same for what a command has shown of such a file: in front of its lines there may be anything."""
    return "\n".join(_after_its_name(line) for line in text.split("\n"))


def variables_withheld(text: str) -> str:
    """What a command has said, without the values of variables that have a secret's name, however ordinary they look:
    as `env`, `printenv`, `set` and `export -p` show them, or a search in a file."""
    return _VARIABLE.sub(rf"\1{BLANK}", text) if "=" in text else text


def _after_its_name(line: str) -> str:
    name, _, value = line.partition("=")
    if value.strip("= \t\r"):
        return f"{name}={BLANK}"
    return BLANK if line.strip() else line


def without_private_keys(text: str) -> str:
    """For whole files, before lines are taken out of them: a line from within a key looks like nothing."""
    if "PuTTY-User-Key-File" in text:
        text = _PUTTY.sub(lambda found: f"{found[1]}{BLANK}" + "\n" * found[2].count("\n"), text)
    return _BLOCK.sub(_block, text) if "PRIVATE KEY" in text else text


def without_blocks(text: str, path: str) -> str:
    """For whole files, before lines are taken out of them: what looks like nothing without the line that names it.
    That is a private key, in YAML the folded text of a secret, and every value on another line than its name."""
    text = without_private_keys(text)
    if _is_settings_elsewhere(text, path):
        return _settings(text)
    text = of_files(text, path)
    if is_yaml(path):
        text = without_yaml_blocks(text)
    return across(text, path, _closer(text))


def _closer(text: str) -> dict[int, int]:
    """The lines in which something is called as a secret is, or that hold a header, by their begins: of a file of code
    that is one in two hundred. A word of a name (`key`) is found soon, but is seldom the last one of a secret's."""
    lowered = text.replace("İ", "I").lower()  # the one letter that becomes two: then places would not be the same
    ends: dict[int, int] = {}
    for word, form in _ENDS.items():
        at = lowered.find(word)
        while at >= 0:
            if form.match(lowered, at) is not None and (word != "key" or _is_secret_key(lowered, at)):
                at = _line_around(text, at, ends)
            else:
                at += len(word)
            at = lowered.find(word, at)
    for word in _HEADS:
        at = lowered.find(word)
        while at >= 0:
            if _HEAD.match(lowered, at) is not None:
                at = _line_around(text, at, ends)
            else:  # a line may have a million letters, and such a word again and again
                at = _end_of_line(text, at) if word in _COMMANDS else at + len(word)
            at = lowered.find(word, at)
    return ends


def _is_secret_key(lowered: str, at: int) -> bool:
    """Of a `key`: an API key is one, a primary key is none."""
    while at > 0 and ((before := lowered[at - 1]) in _BETWEEN or before >= "\x80"):
        at -= 1
    return lowered.endswith(_BEFORE_KEY, 0, at)


def _line_around(text: str, at: int, ends: dict[int, int]) -> int:
    """Its end."""
    end = _end_of_line(text, at)
    ends[text.rfind("\n", 0, at) + 1] = end
    return end


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _by_lines(text: str, ends: Mapping[int, int], path: str = "") -> str:
    parts: list[str] = []
    last = 0
    for begin in sorted(ends):
        line = text[begin : ends[begin]]
        after = _line(line, path)
        if after is not line:
            parts += (text[last:begin], after)
            last = ends[begin]
    return "".join((*parts, text[last:]))


def _line(line: str, path: str = "") -> str:
    if line[:1] in ("-", "+") and line[1:2] not in ("", "-", "+", " "):  # of a patch
        after = _line(line[1:], path)
        return f"{line[0]}{after}" if after != line[1:] else _of_line(line, path)
    return _of_line(line, path)


def _of_line(line: str, path: str) -> str:
    lowered = line.lower()
    bare = _BARE.fullmatch(line)
    if bare is not None and _is_bare_secret(bare["name"], bare["value"]):
        return line.replace(bare["value"], BLANK)
    if path.endswith(_SETTINGS) and (entry := _SET.match(line)) is not None and _is_set(entry, path):
        return f"{entry['head']}{BLANK}{entry['tail']}"
    if _UNLIKELY.search(line) is not None or not line.isascii():
        if has_quotes := "'" in line or '"' in line or "`" in line:
            line = _JOINED.sub(_joined, line)
        line = _given_names(_HEADER.sub(_header, line))
        if has_quotes:
            line = _QUOTED.sub(_text, line)
        if "define" in lowered or "set" in lowered or "--" in line or "env" in lowered or "with" in lowered:
            line = _GIVEN.sub(_side_by_side, line)
    if "login" in lowered:
        line = _LOGIN.sub(_said, line)
    if "passw" in lowered or "identified" in lowered:
        line = _OF_SQL.sub(_said, line)
    if "curl" in lowered:
        line = _OF_CURL.sub(_said, line)
    if (" -" in line or "\\\\" in line) and any(client in lowered for client in _CLIENTS):
        line = _OF_CLIENTS.sub(_option, line)
    if "|" in line and ("sudo" in lowered or "stdin" in lowered or "chpasswd" in lowered):
        line = _OF_PIPES.sub(_option, line)
    if "va" in lowered or "default" in lowered or "content" in lowered:
        line = _PAIR.sub(_pair_of_yaml if is_yaml(path) else _pair, line)
    if "<" in line or (path and is_markup_of_settings(path)):
        line = markup_withheld(line, of_settings=is_markup_of_settings(path))
    return line


def _is_set(entry: re.Match[str], path: str) -> bool:
    value = entry["value"].strip("'\"")
    return (is_paired if path.endswith(_TRANSLATED) else is_given)(entry["name"], value)


def _is_bare_secret(name: str, value: str) -> bool:
    has_digit = any(each.isdigit() for each in value)
    has_letter = any(each.isalpha() for each in value)
    path = "." in value or "::" in value or "/" in value
    return has_digit and has_letter and not path and not is_type(value) and names_secret(name, value)


def all_withheld(value: Any) -> Any:
    """The same for every text in a JSON value."""
    match value:
        case str():
            return withheld(value)
        case Mapping():
            return {
                key: BLANK if isinstance(item, str) and _is_item(key, item) else all_withheld(item)
                for key, item in value.items()
            }
        case list() | tuple():
            return [all_withheld(item) for item in value]
    return value


def _is_item(key: object, item: str) -> bool:
    return is_secret(key, item) and (unlikely(item) or is_literal(str(key), item))


def _settings(text: str) -> str:
    def multiline(found: re.Match[str]) -> str:
        return f"{found[1]}{BLANK}" + "\n" * found[0].count("\n") if "\n" in found[0] else found[0]

    text = _SETTING.sub(rf"\1{BLANK}", _MULTILINE.sub(multiline, text))
    return "\n".join(
        line if "=" in line or not line.strip() or line.lstrip().startswith("#") else BLANK for line in text.split("\n")
    )


def _block(found: re.Match[str]) -> str:
    if not found[2].strip():
        return found[0]  # a text that speaks of keys
    return f"{found[1]}{BLANK}" + "\n" * found[2].count("\n") + found[3]


def _header(found: re.Match[str]) -> str:
    return f"{found[1]}{BLANK}" if unlikely(found[2]) else found[0]


def _user(found: re.Match[str]) -> str:
    return f"{found[1]}{BLANK}@" if unlikely(found[2]) else found[0]


def _said(found: re.Match[str]) -> str:
    value = found[found.re.groups]
    return f"{found[0][: -len(value)]}{BLANK}" if unlikely(value) and not is_placeholder(value) else found[0]


def _option(found: re.Match[str]) -> str:
    return found[0] if is_placeholder(found[3]) else f"{found[1]}{BLANK}"


def _given_names(line: str) -> str:
    """A value that is none of a secret may have names and values within: an address, the arguments of a call."""
    parts: list[str] = []
    last = at = within = 0
    while (found := _NAMED.search(line, at)) is not None:
        plainly = found.start() >= within or found["quote"] or found["sign"] == "="
        after = _named(found) if plainly else found[0]
        if after != found[0]:
            parts += (line[last : found.start()], after)
            last = at = found.end()
        else:
            at = found.end("sign") if "=" in found["value"] else found.end()
        within = max(within, found.end())
    return "".join((*parts, line[last:])) if parts else line


def _named(found: re.Match[str]) -> str:
    if not is_literal(found["name"], found["value"]):
        return found[0]
    plainly = found["sign"] == "=" or ("-" in found["name"] and "=" not in found["sign"])  # or it is a header's
    if not found["quote"] and is_code(found["value"], plainly_set=plainly):
        return found[0]
    return _blanked(found) if _is_whole(found, plainly_set=plainly) else found[0]


def _text(found: re.Match[str]) -> str:
    """Several names in a row are no name and its value."""
    if "," in found["sign"] and found["name"].lower().endswith("s"):
        return found[0]
    return _blanked(found) if is_literal(found["name"], found["value"]) and _is_whole(found) else found[0]


def _joined(found: re.Match[str]) -> str:
    if not is_written(found["name"], (piece[2] for piece in _PIECE.finditer(found["pieces"]))):
        return found[0]
    return found[0][: found.start("pieces") - found.start()] + _PIECE.sub(rf"\1{BLANK}\1", found["pieces"])


def _side_by_side(found: re.Match[str]) -> str:
    value = found["value"]
    if not found["quote"] and (is_code(value, plainly_set=True) or "(" in value or "(" in found["sign"]):
        return found[0]
    return _blanked(found) if is_literal(found["name"], value) and _is_whole(found) else found[0]


def _is_whole(found: re.Match[str], *, plainly_set: bool = True) -> bool:
    """Of a short value: whether it is all that stands there, and neither a word of a sentence nor a part of code."""
    if len(found["value"]) >= SHORT:
        return True
    after = found.string[found.end() : found.end() + 1]
    if found["quote"]:
        return after == found["quote"][-1]
    return plainly_set and after != "," and _BRACKETS.isdisjoint(found["value"])


def _pair(found: re.Match[str]) -> str:
    value = found["value"]
    if not found["quote"] and is_code(value, plainly_set=False):
        return found[0]
    return _pair_of_yaml(found)


def _pair_of_yaml(found: re.Match[str]) -> str:
    return _blanked(found) if is_paired(found["name"], found["value"]) else found[0]


def _blanked(found: re.Match[str]) -> str:
    """Without its value. What follows a quote that is escaped stays so."""
    begin, end = found.start("value") - found.start(), found.end("value") - found.start()
    return found[0][:begin] + BLANK + ("\\" if found["value"].endswith("\\") else "") + found[0][end:]
