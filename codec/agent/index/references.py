"""Which names a file uses, and how often: found in its text, not in its tree, which takes a third of the time.

Comments and long texts are cut out first, roughly: a `#` in a text counts as one, too. The words of a language are no
names, nor is anything of one or two characters. What is in short texts stays: names are often given as such.
"""

import re
from collections import Counter
from collections.abc import Mapping

_NAMES = bytes(code if code >= 128 or chr(code).isalnum() or code == 0x5F else 0x20 for code in range(256))
"""Whatever cannot be in a name becomes a blank."""
_HASH = re.compile(rb"#[^\n]*")
_SLASHES = re.compile(rb"//[^\n]*|/\*(?s:.)*?\*/")
_LONG_TEXTS = re.compile(rb'"""(?s:.)*?"""')
_DASHES = re.compile(rb"--[^\n]*")
_TAGS = re.compile(rb"<!--(?s:.)*?-->")
_WITHOUT: Mapping[str, tuple[re.Pattern[bytes], ...]] = {
    "python": (_LONG_TEXTS, _HASH),
    "ruby": (_HASH,),
    "bash": (_HASH,),
    "perl": (_HASH,),
    "elixir": (_LONG_TEXTS, _HASH),
    "php": (_SLASHES, _HASH),
    "sql": (_DASHES,),
    "lua": (_DASHES,),
    "haskell": (_DASHES,),
    **dict.fromkeys(
        ("javascript", "typescript", "tsx", "go", "rust", "java", "c", "cpp", "c_sharp", "kotlin", "swift", "scala",
         "groovy", "dart", "objective_c", "zig", "protobuf", "less", "css"),
        (_SLASHES,),
    ),
    **dict.fromkeys(("vue", "svelte", "html"), (_TAGS,)),
}  # fmt: skip
"""The languages whose names are gathered."""
_WORDS = frozenset(
    """
    abstract and any args arguments as assert async await base begin bool boolean break byte case catch char chan class
    const constexpr continue crate debugger declare def default defer del delegate delete do done double dyn echo elif
    else elseif elsif end endif ensure enum err error esac except export extends extern false False fallthrough fi final
    finally fixed float fn for foreach friend from fun func function get global go goto if impl implements implicit
    import in include inline instanceof int int32 int64 interface internal into is isset lambda let local lock long loop
    map match mod module move mut mutable namespace native new next nil None nonlocal not null nullptr number object of
    operator or out override package params pass print private protected protocol pub public raise range readonly
    ref register require rescue return sbyte sealed select self Self set shift short signed sizeof stackalloc static
    std str strictfp string String struct super switch synchronized template then this throw throws trait transient true
    True try type typedef typename typeof u16 u32 u64 uint ulong undefined undef union unless unsafe unsigned unset
    until use using usize var vec virtual void volatile when where while with yield ___
    """.split()  # noqa: SIM905
)
MOST = 3_000
"""Names of one file."""
_LONGEST = 80


def references_of(language: str, data: bytes) -> dict[str, int]:
    without = _WITHOUT.get(language)
    if without is None:
        return {}
    for pattern in without:
        data = pattern.sub(b" ", data)
    counts = Counter(data.translate(_NAMES).decode("utf-8", "replace").split())
    found = {
        name: count
        for name, count in counts.items()
        if 2 < len(name) <= _LONGEST and name[0] > "9" and name not in _WORDS  # whose first is a digit is a number
    }
    if not data.isascii():
        found = {name: count for name, count in found.items() if name.isidentifier()}
    if len(found) > MOST:
        return dict(Counter(found).most_common(MOST))
    return found
