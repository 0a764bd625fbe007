"""Another account of the machine gets nothing, at every door of a running server."""

import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.accounts import CAN_BE_OTHERS, NOBODY, in_a_child_of_nobody
from tests.house.running import DEADLINE, LISTENING, Server, server
from tests.judge.kit import post

pytestmark = pytest.mark.slow

PATHS = {"console": "/live", "sidekick": "/", "judge": "/panel", "agent": "/v1/sessions/any/stream"}


def said(url: str, data: bytes) -> bytes:
    """What the server answers to these bytes, up to the end of its head and what came with it."""
    address = urlsplit(url)
    with socket.create_connection((address.hostname or "", address.port or 0), DEADLINE) as client:
        client.sendall(data.replace(b"HOST", address.netloc.encode()))
        answer = b""
        while b"\r\n\r\n" not in answer and (part := client.recv(65536)):
            answer += part
        return answer


def wishes(system: str) -> list[bytes]:
    problem = post("abc999/abc999_a", ("1\n", "1\n"))
    return [
        b"GET / HTTP/1.1\r\nHost: HOST\r\n\r\n",
        b"GET %s HTTP/1.1\r\nHost: HOST\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" % PATHS[system].encode(),
        b"POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: %d\r\n\r\n%b" % (len(problem), problem),
    ]


Somebody = Callable[[Callable[[], bytes]], bytes]
"""Who asks."""


def ourselves(work: Callable[[], bytes]) -> bytes:
    return work()


def status(who: Somebody, url: str, wish: bytes) -> int:
    return int(who(lambda: said(url, wish)).split(b" ", 2)[1])


def statuses(house: Server, who: Somebody) -> dict[str, list[int]]:
    urls = {system: house.url_of(system) for system in LISTENING}
    return {system: [status(who, url, wish) for wish in wishes(system)] for system, url in urls.items()}


def test_other_accounts_are_refused_at_every_door_and_the_servers_own_is_served(tmp_path: Path) -> None:
    with server(tmp_path) as house:
        house.ready()
        if CAN_BE_OTHERS:  # else test_account.py shows it, with a kernel that says so
            assert statuses(house, in_a_child_of_nobody) == {system: [403, 403, 403] for system in LISTENING}
            judge, page = house.url_of("judge"), wishes("judge")[0]
            answer = in_a_child_of_nobody(lambda: said(judge, page))
            assert f"you are uid {NOBODY}" in answer.decode()
            assert not (tmp_path / "abc999").exists()
        assert statuses(house, ourselves) == {
            "console": [200, 101, 405],
            "sidekick": [200, 101, 405],
            "judge": [200, 101, 200],
            "agent": [200, 401, 405],
        }
        house.stop()
        assert ("another account of this machine is not let in" in house.said) == CAN_BE_OTHERS
        assert "every account of this machine can come in" not in house.said


def test_a_setting_opens_one_door_to_every_account(tmp_path: Path) -> None:
    with server(tmp_path, "--set", "sidekick.accounts=any") as house:
        house.ready()
        who, others = (in_a_child_of_nobody, 403) if CAN_BE_OTHERS else (ourselves, 200)
        wish = b"GET / HTTP/1.1\r\nHost: HOST\r\n\r\n"
        found = {system: status(who, house.url_of(system), wish) for system in LISTENING}
        assert found == {"console": others, "sidekick": 200, "judge": others, "agent": others}
