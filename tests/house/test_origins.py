"""The pages that reach each door of a running server, as one table."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.running import Server, server
from tests.house.test_accounts import said, wishes

pytestmark = pytest.mark.slow

EXTENSIONS = ("chrome-extension://cjnmckjndlpiamhfimnnjmnckgghkjbl", "moz-extension://1f4e", "safari-web-extension://1f")
SERVED = {"console": [200, 101, 405], "sidekick": [200, 101, 405], "judge": [200, 101, 200]}
REFUSED = [403, 403, 403]
ONLY_SIDEKICK = {"console": REFUSED, "sidekick": SERVED["sidekick"], "judge": REFUSED}

WHO = {
    "": SERVED,  # a program
    "{own}": SERVED,
    "vscode-webview://0a1b": {**SERVED, "console": REFUSED},
    **{origin: {"console": REFUSED, "sidekick": REFUSED, "judge": [403, 403, 200]} for origin in EXTENSIONS},
    "http://localhost:4173": ONLY_SIDEKICK,  # where the web UI of the clients stands
    "https://127.0.0.1:3000": ONLY_SIDEKICK,
    "http://[::1]:8000": ONLY_SIDEKICK,
    "http://localhost": ONLY_SIDEKICK,
    "https://tools.example": ONLY_SIDEKICK,  # named in the settings
    "https://evil.example": {"console": REFUSED, "sidekick": REFUSED, "judge": REFUSED},
    "http://localhost.evil.example": {"console": REFUSED, "sidekick": REFUSED, "judge": REFUSED},
    "null": {"console": REFUSED, "sidekick": REFUSED, "judge": REFUSED},
}
"""By origin: what the door of each system answers to GET /, its WebSocket, and POST /."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("house")
    with server(folder, "--set", 'sidekick.origins=["https://tools.example"]') as house:
        yield house.ready()


def from_origin(wish: bytes, origin: str) -> bytes:
    head, _, rest = wish.partition(b"\r\n\r\n")
    return b"%b\r\nOrigin: %b\r\n\r\n%b" % (head, origin.encode(), rest) if origin else wish


@pytest.mark.parametrize("origin", WHO)
def test_each_origin_reaches_what_it_may_and_nothing_else(house: Server, origin: str) -> None:
    found = {}
    for system in SERVED:
        url = house.url_of(system)
        answers = [said(url, from_origin(wish, origin.format(own=url))) for wish in wishes(system)]
        found[system] = [int(answer.split(b" ", 2)[1]) for answer in answers]
    assert found == WHO[origin]


@pytest.mark.parametrize("origin", EXTENSIONS)
@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("GET /web/house/house.js", 403),
        ("GET /panel", 403),
        ("POST /panel", 403),
        ("PUT /", 403),
        ("HEAD /", 403),
        ("OPTIONS /", 403),
        ("OPTIONS /\r\nAccess-Control-Request-Method: PUT", 403),
        ("OPTIONS /\r\nAccess-Control-Request-Method: POST", 204),
    ],
)
def test_an_extension_may_do_nothing_at_the_judges_port_but_post(
    house: Server, origin: str, line: str, status: int
) -> None:
    first, _, more = line.partition("\r\n")
    lines = [f"{first} HTTP/1.1", "Host: HOST", f"Origin: {origin}", *([more] if more else []), "", ""]
    answer = said(house.url_of("judge"), "\r\n".join(lines).encode())
    assert int(answer.split(b" ", 2)[1]) == status


@pytest.mark.parametrize("system", SERVED)
@pytest.mark.parametrize(("site", "mode", "status"), [("none", "cors", 403), ("none", "navigate", 200)])
def test_an_extension_that_sends_no_origin_reads_no_page(
    house: Server, system: str, site: str, mode: str, status: int
) -> None:
    lines = ["GET / HTTP/1.1", "Host: HOST", f"Sec-Fetch-Site: {site}", f"Sec-Fetch-Mode: {mode}", "", ""]
    answer = said(house.url_of(system), "\r\n".join(lines).encode())
    assert int(answer.split(b" ", 2)[1]) == status
