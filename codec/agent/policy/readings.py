"""Whether a command shows a file of settings: `cat .env` would tell a model what it is not told when it reads .env
itself."""

import re
from fnmatch import fnmatchcase

from codec.agent.policy.looking_into import as_line, everything
from codec.agent.policy.names import names
from codec.agent.policy.wrappers import program_of
from codec.agent.withheld import is_settings

_SHOWS = names(
    """
    cat tac nl head tail less more bat batcat grep egrep fgrep rg ack ag sed awk gawk mawk cut sort uniq strings diff
    fold paste tee rev xxd od base64 git type get-content
    """
)
_BETWEEN = re.compile(r"""[\s'"<>|;&()=,]+""")
_QUOTED = str.maketrans("", "", "\"'\\{}")


def shows_settings(command: str | tuple[str, ...]) -> bool:
    """What only a run would tell is not known here: a program of the workspace may show them as well."""
    if not any(program_of(words[0]) in _SHOWS for words in everything(as_line(command))):
        return False
    text = command if isinstance(command, str) else " ".join(command)
    bare = text.translate(_QUOTED)  # .en"v", .e\\nv, .{env,x}
    return any(map(_may_be_settings, filter(None, (*_BETWEEN.split(text), *_BETWEEN.split(bare)))))


def _may_be_settings(word: str) -> bool:
    if is_settings(word):
        return True
    name = word.rpartition("/")[2]
    if not name.startswith((".", "[", "?")):
        return False  # a pattern that begins otherwise is for no such name
    return any(fnmatchcase(each, name) for each in (".env", ".env.local", ".npmrc", ".pypirc", ".netrc"))
