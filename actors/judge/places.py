"""Determines a problem's folder: `contestId/taskId` under the workspace.

The ids come, in this order,
  1. by the site's own layout (sites.py), in the site's own words;
  2. in an address of the usual form, `…/contest/X/problem/Y` or `…/problem/Y`, of whatever host;
  3. from the group and the name, as a readable slug.

Rules
  - names.py makes both ids, so neither can lead out of the workspace.
  - The same problem has the same folder, whichever tab or language its page was in.
  - Two problems hardly ever have the same folder. If something of an id is left out, a digest is added. Case counts
    only as the site itself writes it, so folders differ even on a disk that ignores case. The remaining conflicts (two
    problems with one title in one group) are solved by the caller: it records the `identity` of each folder's problem,
    and takes the first free `numbered` place.
"""

import re
from functools import lru_cache
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from actors.judge import names, sites


class TaskPlace(Struct, frozen=True):
    contest_id: str
    task_id: str
    identity: str
    """Equal for two posts exactly if they are of the same problem, as far as we can tell."""

    @property
    def id(self) -> str:
        """Also its folder, relative to the workspace."""
        return f"{self.contest_id}/{self.task_id}"

    def numbered(self, number: int) -> "TaskPlace":
        """The second place with this name, the third, and so on. The first is the place itself."""
        return self if number < 2 else replace(self, task_id=f"{self.task_id}-{number}")


@lru_cache(maxsize=64)
def place(url: str, group: str, name: str) -> TaskPlace:
    """Cached, because each post's place is determined twice: for the queue, and for the folder."""
    where = address(url)
    if where is not None:
        if found := sites.find(where):
            contest, task = unquote(found.contest), unquote(found.task)
            return TaskPlace(names.of_id(contest), names.of_id(task), f"{contest}/{task}")
        if usual := _usual(where):
            return usual
    identity = where if where is not None else f"{group}\n{name}"
    return TaskPlace(names.of_title(group or _host(where)), names.of_title(name), identity)


# --- addresses -------------------------------------------------------------------------------------------------------

_NOISE = frozenset(("locale", "lang", "language", "hl", "ref", "source", "from", "tab", "f0a28", "csrf_token"))
"""Parameters that do not name the problem."""


def address(url: str) -> str | None:
    """The address in a standard form: no scheme, `www`, language or slash at the end. None if it is not an address."""
    try:
        parts = urlsplit(url)
        host = _host_of(parts)
    except ValueError:  # a bracket in the host, a port that is no number
        return None
    if parts.scheme not in ("http", "https") or not host:
        return None
    path = "/".join(part for part in parts.path.split("/") if part)
    query = sorted(
        (key, value)
        for key, value in parse_qsl(parts.query, keep_blank_values=True)
        if key.lower() not in _NOISE and not key.lower().startswith("utm_")
    )
    fragment = parts.fragment if "/" in parts.fragment else ""  # a page that does its own routing
    parameters = f"?{urlencode(query, errors='replace')}" if query else ""
    return f"{host}/{path}{parameters}" + (f"#{fragment}" if fragment else "")


def _host_of(parts: SplitResult) -> str:
    host = (parts.hostname or "").removeprefix("www.")
    return host if parts.port in (None, 80, 443) else f"{host}:{parts.port}"


def _host(where: str | None) -> str:
    return where.partition("/")[0] if where else ""


_CONTEST = re.compile(r"/(?:contests?|c|rounds?|trainings?|homework|assignments?)/(?P<id>[^/?#]+)")
_TASK = re.compile(
    r"/(?:problems?|tasks?|challenges?|exercises?|p)/(?P<id>[^/?#]+)(?:/(?:description|statement|problem))?"
    r"(?P<rest>[?#].*)?\Z"
)


def _usual(where: str) -> TaskPlace | None:
    task = _TASK.search(where)
    if task is None:
        return None
    host, before = _host(where), where[: task.start()]
    contest = _CONTEST.search(before)
    contest_id = unquote(f"{host}-{contest['id']}" if contest else host)
    task_id = unquote(task["id"])
    says_more = before != host + (contest[0] if contest else "") or task["rest"]
    folded = (contest_id + task_id).lower() != contest_id + task_id
    beside = where if says_more or folded else ""
    identity = where if beside else f"{contest_id}/{task_id}"  # whichever of the usual words the site takes for them
    return TaskPlace(names.of_id(contest_id.lower()), names.of_id(task_id.lower(), beside), identity)
