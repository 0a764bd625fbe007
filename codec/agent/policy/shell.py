"""A shell's line, read twice: which simple commands it runs, and whether that is all it does.

tree-sitter-bash finds the commands, also those inside of substitutions, functions, and lines with faults. So what is
blocked is found wherever it stands. A second reader, far stricter, knows plain lines only: words, quotes, &&, ||, ;, |,
line breaks, ( ), { }, !, and output that is thrown away or joined. A line is clear if both find the same words in the
same order. So what can only be misread by one of the two is never taken for clear.

What is clear to bash may be something else to the shell behind an editor's terminal (zsh, fish, PowerShell). Hence a
comment, a history's !, a word that begins with = or ^, and a backslash before a quote are not clear either.

A word whose value only running the line would tell is None.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import tree_sitter_bash
from msgspec import Struct
from msgspec.structs import replace
from tree_sitter import Language, Node, Parser

from codec.agent.policy.names import names

LONGEST_LINE = 4_000
MOST_SIGNS = 300
"""Longer lines, and those with more signs, are not read, and so never clear. The time that tree-sitter-bash 0.25 takes
to read a heap of unmatched signs grows with its square: 0.3 s for 4,000."""

Words = tuple[str | None, ...]


class ShellCommand(Struct, frozen=True):
    """A simple command."""

    words: Words
    plain: bool = True
    """Whether its program is written as it is, without quotes or escapes."""


class ShellLine(Struct, frozen=True):
    commands: tuple[ShellCommand, ...]
    unclear: str = ""
    """What in it is not clear: a key of UNCLEAR. Empty: its commands are all that it does."""
    writes: tuple[str, ...] = ()
    """The files to which its output goes, as far as they are named."""


UNCLEAR = {
    "error": "bash would not read it without a fault",
    "substitution": "it runs what is inside of $( ) or ` `",
    "expansion": "a part of it begins with $, and only the shell knows its value",
    "glob": "it holds a pattern (*, ?, [ ]), and only the shell knows the names",
    "braces": "it holds braces that the shell expands",
    "home": "it holds a ~ that the shell replaces",
    "redirection": "it reads or writes files by < or >",
    "heredoc": "it holds a document for a command's input (<<)",
    "assignment": "it sets variables, which may change what programs do",
    "function": "it defines a function",
    "control": "it holds a control structure (if, for, while, case, [ ])",
    "background": "it leaves a command in the background (&)",
    "escape": "it holds a backslash where shells differ",
    "history": "it holds a !, which a shell may replace by an earlier command",
    "comment": "it holds a comment, which not every shell leaves out",
    "unseen": "it holds characters that are not seen",
    "long": "it is too long, or too tangled",
    "odd": "it is not a plain line of commands",
}

_parser = Parser(Language(tree_sitter_bash.language()))

# -- the strict reader

_TOKEN = re.compile(
    r"""(?xs)
    (?P<blank>[ \t]+)
  | (?P<thrown>[12]?>&[12](?=[\s;|&)]|\Z) | (?:[12]?>>?|<)[ \t]*/dev/null(?=[\s;|&)]|\Z))
  | (?P<end>&&|\|\||;(?![;&])|\|(?![&|])|\n)
  | (?P<open>\((?!\())
  | (?P<close>\))
  | (?P<brace>[{}](?=[\s;]|\Z))
  | (?P<not>!(?=[ \t]))
  | (?P<word>(?![=^])(?:
        [A-Za-z0-9_@%+:,./=^\-\u00a1-\U0010ffff]
      | (?<=[A-Za-z0-9_^])[~#]
      | '(?:[^'\\]|\\(?!'))*'
      | "(?:[^"\\$`!]|\\(?![$`"\\\n!])|!(?=[\s=]))*"
      | \\[ -/:-@\[\]^_{|}~]
    )+)
    """
)
_QUOTED = re.compile(r"""'(?P<raw>[^']*)'|"(?P<text>[^"]*)"|\\(?P<escaped>.)""", re.DOTALL)
_RESERVED = names(
    """
    if then elif else fi for while until do done case esac select function coproc in [ [[ ]]
    """
)
_STOPS = {
    "$": "expansion",
    "`": "substitution",
    "*": "glob",
    "?": "glob",
    "[": "glob",
    "]": "glob",
    "~": "home",
    "{": "braces",
    "}": "braces",
    "<": "redirection",
    ">": "redirection",
    "&": "background",
    "\\": "escape",
    "!": "history",
    "#": "comment",
    "=": "expansion",
    "^": "history",
}


def _strictly(line: str) -> list[Words] | str:
    """The words of its commands, or what is not clear."""
    found: list[Words] = []
    words: list[str] = []
    place, depth, joined = 0, 0, False
    while place < len(line):
        token = _TOKEN.match(line, place)
        if token is None:
            return _stopped_at(line, place)
        kind, text = token.lastgroup, token[0]
        match kind:
            case "word":
                if joined or (not words and text in _RESERVED):
                    return "control" if text in _RESERVED else "odd"
                words.append(_unquoted(text))
            case "end":
                if words:
                    found.append(tuple(words))
                    words = []
            case "open":
                if words or joined:
                    return "function"
                depth += 1
            case "close":
                if words:
                    found.append(tuple(words))
                    words = []
                depth -= 1
            case "brace" | "not":
                if words:
                    return "braces" if kind == "brace" else "history"
        joined = kind == "close"
        place = token.end()
    if words:
        found.append(tuple(words))
    return found if depth == 0 else "error"


def _stopped_at(line: str, place: int) -> str:
    char = line[place]
    if char in "\"'":  # something in it, or its end, is not plain
        inside = re.compile(r"[$`\\!]").search(line, place) if char == '"' else None
        if inside is None:
            return "escape" if "\\" in line[place:] else "error"
        place, char = inside.start(), inside[0]
    if line.startswith(("$(", "<(", ">("), place):
        return "expansion" if line.startswith("$((", place) else "substitution"
    if line.startswith("<<", place):
        return "heredoc"
    if not char.isprintable() and char not in "\t\n":
        return "unseen"
    return _STOPS.get(char, "odd")


def _unquoted(word: str) -> str:
    return _QUOTED.sub(lambda found: found[str(found.lastgroup)], word)


# -- the reader that finds everything

_STRUCTURE = names(
    """
    program list pipeline subshell compound_statement negated_command redirected_statement
    """
)
_SIGNS = frozenset(("&&", "||", ";", "|", "(", ")", "{", "}", "!", "\n"))
_KINDS = {
    "variable_assignment": "assignment",
    "variable_assignments": "assignment",
    "declaration_command": "assignment",
    "unset_command": "assignment",
    "function_definition": "function",
    "herestring_redirect": "heredoc",
    "comment": "comment",
    "command_substitution": "substitution",
    "process_substitution": "substitution",
    "ERROR": "error",
    "&": "background",
    "if_statement": "control",
    "for_statement": "control",
    "c_style_for_statement": "control",
    "while_statement": "control",
    "case_statement": "control",
    "test_command": "control",
}
_SIGN = re.compile(r"[^\w\s./,:=+@%'\"-]")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_JOINED = re.compile(r"\d*-?")
"""What stands behind >& for another of the program's own outputs."""
_IN_STRING = re.compile(r'\\([$`"\\])')


@lru_cache(512)
def read_line(line: str) -> ShellLine:
    if len(line) > LONGEST_LINE or len(_SIGN.findall(line)) > MOST_SIGNS:
        return ShellLine((), "long")
    strict: list[Words] | str
    strict = "unseen" if not line.isascii() and any(map(_is_unseen, line)) else _strictly(line)
    commands: list[ShellCommand] = []
    writes: list[str] = []
    unclear = ""
    owners: dict[int, int] = {}
    """Of a statement with redirections, the command that they belong to."""
    waiting = [_parser.parse(as_ascii(line)).root_node]
    if waiting[0].has_error:
        unclear = "error"
    while waiting:
        node = waiting.pop()
        kind = node.type
        inner: Iterator[Node] | list[Node]
        if kind == "command":
            command, inner = _command(node, line)
            commands.append(command)
        elif kind in _STRUCTURE:
            inner = [each for each in node.children if each.type not in _SIGNS]
        elif kind in ("file_redirect", "heredoc_redirect"):
            inner = node.named_children
            writes += _target(node, line)
            more = _words_behind(node, line)
            if commands:
                owner = owners.setdefault(node.parent.id if node.parent else 0, len(commands) - 1)
                commands[owner] = replace(commands[owner], words=commands[owner].words + more)
            elif more:
                commands.append(ShellCommand(more))
            if kind == "heredoc_redirect":
                unclear = unclear or "heredoc"
        else:
            unclear = unclear or _KINDS.get(kind, "")
            inner = node.named_children
            if kind in ("declaration_command", "unset_command", "test_command"):
                commands.append(ShellCommand(tuple(_value(each, line) for each in node.children)))
        waiting.extend(reversed(inner))
    if isinstance(strict, str):
        if not unclear or (unclear == "error" and strict != "odd"):
            unclear = strict
    elif not unclear and [each.words for each in commands] != strict:
        unclear = "odd"
    return ShellLine(tuple(commands), unclear, tuple(writes))


def as_ascii(line: str) -> bytes:
    """With a sign that is part of a word for each character that is not in ASCII, so that places stay the same. Some of
    these (rare ones, side by side) end the whole process in tree-sitter 0.26.1 with tree-sitter-bash 0.25.1, now and
    then: a fault of memory in parse(). In ASCII a million odd texts did not."""
    return (line if line.isascii() else _FOREIGN.sub("_", line)).encode()


def _command(node: Node, line: str) -> tuple[ShellCommand, list[Node]]:
    """And what of it has to be looked into."""
    words: list[str | None] = []
    inner: list[Node] = []
    plain = False
    for part in node.children:
        kind = part.type
        if kind == "command_name":
            named = part.children[0] if part.child_count else part
            words.append(_value(named, line))
            plain = named.type == "word" and "\\" not in line[named.start_byte : named.end_byte]
            part = named
        elif kind in ("variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect"):
            inner.append(part)
            continue
        else:
            words.append(_value(part, line))
        if words[-1] is None:
            inner.append(part)
    return ShellCommand(tuple(words), plain), inner


def _value(node: Node, line: str) -> str | None:
    kind = node.type
    if kind in ("word", "number"):
        text = line[node.start_byte : node.end_byte]
        if "\\" in text:
            text = re.sub(r"\\(.)", r"\1", text.replace("\\\n", ""), flags=re.DOTALL)
        elif any(each in text for each in "*?[{}"):
            return None
        return text
    if kind == "raw_string":
        return line[node.start_byte + 1 : node.end_byte - 1]
    if kind == "string":
        if any(each.type != "string_content" for each in node.named_children):
            return None
        text = line[node.start_byte + 1 : node.end_byte - 1]
        return _IN_STRING.sub(r"\1", text.replace("\\\n", ""))
    if kind == "concatenation":
        parts = [_value(each, line) for each in node.children]
        return None if None in parts or "{" in parts else "".join(filter(None, parts))
    if not node.is_named:
        return line[node.start_byte : node.end_byte]
    return None


def _target(node: Node, line: str) -> Iterator[str]:
    """The file that is written, if it is named: none by `<`, nor by `2>&1`, but by `>& x` and by `<> x`, where the
    parser finds a fault."""
    signs = {each.type for each in node.children}
    if signs & {"<", "<&"} and not node.has_error:
        return
    for file in node.children_by_field_name("destination")[:1]:
        name = _value(file, line)
        if name and not (">&" in signs and _JOINED.fullmatch(name)):
            yield name


def _words_behind(node: Node, line: str) -> Words:
    """In `rm > log -rf x` tree-sitter-bash 0.25.1 takes all words behind the sign for files. All but the first one are
    words of the command before it."""
    files = node.children_by_field_name("destination")
    return tuple(_value(each, line) for each in (*files[1:], *node.children_by_field_name("argument")))


def _is_unseen(char: str) -> bool:
    return not char.isascii() and unicodedata.category(char) in ("Cf", "Cc", "Cs", "Co", "Zl", "Zp", "Zs")
