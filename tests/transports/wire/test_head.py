import pytest

from transports.wire.head import HeadReader, check_framing
from transports.wire.refusal import Refusal


def reader() -> HeadReader:
    return HeadReader(head_bytes=16 * 1024, header_count=100)


def test_a_head_that_comes_byte_by_byte_is_read_like_one_that_comes_whole() -> None:
    data = b"GET /a?b=c HTTP/1.1\r\nHost: x\r\nUpgrade: WebSocket\r\n\r\n"
    slow = reader()
    heads = [slow.feed(bytes([each])) for each in data]
    assert heads[:-1] == [None] * (len(data) - 1)
    assert heads[-1] == reader().feed(data)


def test_a_head_knows_its_parts() -> None:
    head = reader().feed(
        b"GET /a?b=c HTTP/1.1\r\nHost: x\r\nConnection: keep-alive,  Upgrade\r\nUpgrade: WebSocket\r\n\r\n"
    )
    assert head is not None
    assert (head.method, head.path, head.query, head.version) == ("GET", "/a", "b=c", "1.1")
    assert head.tokens("connection") == ["keep-alive", "Upgrade"]
    assert head.wants_websocket


def test_what_came_after_the_head_is_kept_for_the_library() -> None:
    one = reader()
    head = one.feed(b"POST / HTTP/1.1\r\nHost: x\r\n\r\nbody\nwith lines")
    assert head is not None
    assert head.raw == b"POST / HTTP/1.1\r\nHost: x\r\n\r\n"
    assert one.rest(head) == b"body\nwith lines"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x16\x03\x01", 400),
        (b"\r\nGET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\n", 400),
        (b"GET /\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1 \r\n\r\n", 400),
        (b"GET / http/1.1\r\n\r\n", 400),
        (b"GE\x00T / HTTP/1.1\r\n\r\n", 400),
        (b"GET /\x80 HTTP/1.1\r\n\r\n", 400),
        (b"GET http://other.example/ HTTP/1.1\r\n\r\n", 400),
        (b"CONNECT other.example:443 HTTP/1.1\r\n\r\n", 400),
        (b"OPTIONS * HTTP/1.1\r\n\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\n", 505),
        (b"GET / HTTP/1.1\r\nHost x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n: x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nA: b\x00c\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nA: b\rc\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 101 + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\nA: " + b"b" * 17000, 431),
        (b"GET / HTTP/1.1\r\nA: " + b"b" * 17000 + b"\r\n\r\n", 431),
        (b"GET /" + b"a" * 9000, 414),
        (b"A" * 9000, 414),
    ],
)
def test_a_malformed_head_is_refused_as_soon_as_it_can_be_seen(data: bytes, status: int) -> None:
    with pytest.raises(Refusal) as refused:
        reader().feed(data)
    assert refused.value.status == status
    assert refused.value.sentence.endswith(".")


@pytest.mark.parametrize(
    ("version", "headers", "length"),
    [
        ("1.1", [], 0),
        ("1.1", [("content-length", "12")], 12),
        ("1.1", [("content-length", "12"), ("content-length", "12")], 12),
        ("1.1", [("transfer-encoding", "Chunked")], None),
    ],
)
def test_the_length_of_a_body_is_known(version: str, headers: list[tuple[str, str]], length: int | None) -> None:
    assert check_framing(version, headers) == length


@pytest.mark.parametrize(
    ("version", "headers", "status"),
    [
        ("1.1", [("content-length", "1"), ("content-length", "2")], 400),
        ("1.1", [("content-length", "1"), ("transfer-encoding", "chunked")], 400),
        ("1.1", [("content-length", "-1")], 400),
        ("1.1", [("content-length", "+1")], 400),
        ("1.1", [("content-length", "١")], 400),
        ("1.1", [("content-length", "")], 400),
        ("1.1", [("content-length", "9" * 19)], 400),
        ("1.1", [("transfer-encoding", "gzip, chunked")], 501),
        ("1.1", [("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")], 501),
        ("1.0", [("transfer-encoding", "chunked")], 400),
    ],
)
def test_a_body_of_two_lengths_is_refused(version: str, headers: list[tuple[str, str]], status: int) -> None:
    with pytest.raises(Refusal) as refused:
        check_framing(version, headers)
    assert refused.value.status == status


def test_a_refusal_is_a_whole_answer_that_ends_the_connection() -> None:
    data = Refusal(426, "Speak version 13.", headers=(("sec-websocket-version", "13"),)).response()
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 426 Upgrade Required\r\n")
    assert b"connection: close" in head
    assert b"sec-websocket-version: 13" in head
    assert f"content-length: {len(body)}".encode() in head
    assert body == b"Speak version 13.\n"


def test_values_are_stripped_of_the_space_around_them() -> None:
    head = reader().feed(b"GET / HTTP/1.1\r\nA:  b \t\r\nA:\r\n\r\n")
    assert head is not None
    assert head.headers == (("a", "b"), ("a", ""))
