"""Tells whether a text is a colour to a browser. Browsers may know more colour spaces and notations than we do, so of a
function only the name and the brackets are checked. A bracket that is open at the end counts as closed, as in browsers.

Colours are on the hot path, and there are few different ones, so answers are remembered.
"""

import re
from functools import lru_cache

LONGEST = 200
HEX = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{4}|[0-9a-f]{6}|[0-9a-f]{8})")
FUNCTION = re.compile(
    r"(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color|color-mix|light-dark|contrast-color|device-cmyk|var)\([^;{}]+"
)
COMMENT = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
NAMES = frozenset(
    """
    aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood
    cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray
    darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen
    darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue
    firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow grey honeydew
    hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan
    lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray
    lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue
    mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred
    midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab orange orangered orchid
    palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple
    rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue
    slateblue slategray slategrey snow springgreen steelblue tan teal thistle tomato turquoise violet wheat white
    whitesmoke yellow yellowgreen
    transparent currentcolor inherit initial unset revert revert-layer -webkit-link -webkit-activelink
    -webkit-focus-ring-color
    accentcolor accentcolortext activetext buttonborder buttonface buttontext canvas canvastext field fieldtext graytext
    highlight highlighttext linktext mark marktext selecteditem selecteditemtext visitedtext
    activeborder activecaption appworkspace background buttonhighlight buttonshadow captiontext inactiveborder
    inactivecaption inactivecaptiontext infobackground infotext menu menutext scrollbar threeddarkshadow threedface
    threedhighlight threedlightshadow threedshadow window windowframe windowtext
    """.split()  # noqa: SIM905
)
"""CSS's colours, the system's, and keywords that stand for another colour."""


@lru_cache(maxsize=4096)
def is_color(text: str) -> bool:
    """Whether this is a colour. An empty text means "no colour", which is allowed."""
    plain = text.strip().lower()
    if plain in NAMES or not plain:
        return True
    if len(plain) > LONGEST:
        return False
    if plain[0] == "#":
        return HEX.fullmatch(plain) is not None
    plain = COMMENT.sub(" ", plain).strip()
    return FUNCTION.fullmatch(plain) is not None and _is_one_bracket(plain)


def _is_one_bracket(plain: str) -> bool:
    """Whether the first bracket is closed last, or never."""
    depth = 0
    for position, letter in enumerate(plain):
        depth += (letter == "(") - (letter == ")")
        if letter == ")" and not depth:
            return position == len(plain) - 1
    return True
