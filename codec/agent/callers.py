"""Who has said or done something, by the name that the caller gives itself: `client_info.name` in client.hello, and the
first product of User-Agent over HTTP. The page is "web", in whatever browser; our commands are "troupe" and "troupe
ask".
"""

import re

BROWSERS = "Mozilla"
"""The product that every browser names first."""
PAGE, COMMANDS = "web", "troupe"
_PRODUCT = re.compile(r"[\w.!#$%&'*+^`|~-]{1,100}", re.ASCII)


def caller(user_agent: str) -> str:
    """Empty: it gives itself no name."""
    product = _PRODUCT.match(user_agent)
    if product is None:
        return ""
    return PAGE if product[0] == BROWSERS else product[0]


def done_by(name: str) -> str:
    """As the end of a sentence, such as: Approved in a browser. It begins with a space, or is empty."""
    if name == PAGE:
        return " in a browser"
    if name.partition(" ")[0] == COMMANDS:
        return " at the command line"
    return f" by {name}" if name else ""
