import pytest

from transports.wire.head import Head, HeadReader, check_framing
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


MALFORMED = "The request line is malformed; it has the form 'GET /path HTTP/1.1'."
BARE = "A line of the request ends in a bare line feed; end it with CR LF."
FOLDED = "A header is folded over two lines; write it on one."
LARGE = "The head of the request is larger than 16384 bytes; send fewer headers."
LONG = "The request line is longer than 8192 bytes; send the data in the body."
TLS = "This port speaks plain HTTP, not TLS; use http:// or ws:// in the address."


def begins(byte: str) -> str:
    return f"The request begins with the byte 0x{byte}; it must begin with a method such as 'GET'."


def ends(protocol: str) -> str:
    return f"The request line ends in {protocol!r}; it must end in 'HTTP/1.1'."


def no_proxy(target: str) -> str:
    return f"The request is for {target!r}; this server is no proxy, ask for a path such as '/'."


def no_header(line: str) -> str:
    return f"The header line {line!r} is malformed; it has the form 'Name: value'."


@pytest.mark.parametrize(
    ("data", "status", "sentence"),
    [
        (b"\x16\x03\x01", 400, TLS),
        (b"\x16", 400, TLS),
        (b"\r\nGET / HTTP/1.1\r\n\r\n", 400, begins("0d")),
        (b"\x80", 400, begins("80")),
        (b"GET / HTTP/1.1\n", 400, BARE),
        (b"GET / HTTP/1.1\r\nHost: x\n", 400, BARE),
        (b"GET /\r\n\r\n", 400, MALFORMED),
        (b"GET  / HTTP/1.1\r\n\r\n", 400, MALFORMED),
        (b"GET / HTTP/1.1 \r\n\r\n", 400, MALFORMED),
        (b"GE\x00T / HTTP/1.1\r\n\r\n", 400, MALFORMED),
        (b"GET /\x80 HTTP/1.1\r\n\r\n", 400, MALFORMED),
        (b"GET / http/1.1\r\n\r\n", 400, ends("http/1.1")),
        (b"GET / " + b"x" * 21 + b"\r\n\r\n", 400, ends("x" * 20)),
        (b"GET http://other.example/ HTTP/1.1\r\n\r\n", 400, no_proxy("http://other.example/")),
        (b"CONNECT other.example:443 HTTP/1.1\r\n\r\n", 400, no_proxy("other.example:443")),
        (b"OPTIONS * HTTP/1.1\r\n\r\n", 400, no_proxy("*")),
        (b"GET " + b"x" * 81 + b" HTTP/1.1\r\n\r\n", 400, no_proxy("x" * 80)),
        (b"PRI * HTTP/2.0\r\n\r\n", 505, "This server speaks HTTP/1.1; the request is in HTTP/2.0."),
        (b"GET / HTTP/1.1\r\nHost x\r\n\r\n", 400, no_header("Host x")),
        (b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400, no_header("Host : x")),
        (b"GET / HTTP/1.1\r\n: x\r\n\r\n", 400, no_header(": x")),
        (b"GET / HTTP/1.1\r\n" + b"x" * 41 + b"\r\n\r\n", 400, no_header("x" * 40)),
        (b"GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", 400, FOLDED),
        (b"GET / HTTP/1.1\r\nA: b\r\n\tfolded\r\n\r\n", 400, FOLDED),
        (b"GET / HTTP/1.1\r\nA: b\x00c\r\n\r\n", 400, "The value of the header 'A' holds a control character."),
        (b"GET / HTTP/1.1\r\nA: b\rc\r\n\r\n", 400, "The value of the header 'A' holds a control character."),
        (
            b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 101 + b"\r\n",
            431,
            "The request has 101 headers; at most 100 are read.",
        ),
        (b"GET / HTTP/1.1\r\nA: " + b"b" * 17000, 431, LARGE),
        (b"GET / HTTP/1.1\r\nA: " + b"b" * 17000 + b"\r\n\r\n", 431, LARGE),
        (b"GET /" + b"a" * 9000, 414, LONG),
        (b"A" * 9000, 414, LONG),
    ],
)
def test_a_malformed_head_is_refused_in_words_as_soon_as_it_can_be_seen(
    data: bytes, status: int, sentence: str
) -> None:
    with pytest.raises(Refusal) as refused:
        reader().feed(data)
    assert (refused.value.status, refused.value.sentence) == (status, sentence)


def fed(pieces: list[bytes]) -> Head | None:
    one = reader()
    return [one.feed(piece) for piece in pieces][-1]


def of_length(size: int) -> bytes:
    """A head of so many bytes."""
    return b"GET / HTTP/1.1\r\nA: " + b"b" * (size - 23) + b"\r\n\r\n"


@pytest.mark.parametrize(
    ("longest", "too_long", "status"),
    [
        (of_length(16 * 1024), of_length(16 * 1024 + 1), 431),
        (of_length(16 * 1024 + 1)[:-1], of_length(16 * 1024 + 2)[:-1], 431),  # none of them is whole
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 100 + b"\r\n", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 101 + b"\r\n", 431),
        (b"GET /".ljust(8192 - 11, b"a") + b" HTTP/1.1\r\n", b"GET /".ljust(8192 - 10, b"a") + b" HTTP/1.1\r\n", 414),
        (b"A" * 8192, b"A" * 8193, 414),
    ],
)
def test_a_head_may_be_as_long_as_it_may_be_and_no_longer(longest: bytes, too_long: bytes, status: int) -> None:
    for pieces in ([longest], [longest[:-1], longest[-1:]]):
        assert (fed(pieces) is not None) is longest.endswith(b"\r\n\r\n")
    for pieces in ([too_long], [too_long[:-1], too_long[-1:]]):
        with pytest.raises(Refusal) as refused:
            fed(pieces)
        assert refused.value.status == status


@pytest.mark.parametrize(
    ("version", "headers", "length"),
    [
        ("1.1", [], 0),
        ("1.0", [("content-length", "12")], 12),
        ("1.1", [("content-length", "9" * 18)], 10**18 - 1),
        ("1.1", [("content-length", "12")], 12),
        ("1.1", [("content-length", "12"), ("content-length", "12")], 12),
        ("1.1", [("transfer-encoding", "Chunked")], None),
    ],
)
def test_the_length_of_a_body_is_known(version: str, headers: list[tuple[str, str]], length: int | None) -> None:
    assert check_framing(version, headers) == length


def no_number(length: str) -> str:
    return f"Content-Length is {length!r}; it must be a number of bytes."


def no_coding(coding: str) -> str:
    return f"Transfer-Encoding {coding!r} is not known here; use 'chunked'."


@pytest.mark.parametrize(
    ("version", "headers", "status", "sentence"),
    [
        (
            "1.1",
            [("content-length", "1"), ("content-length", "2")],
            400,
            "The request has two different Content-Length headers.",
        ),
        (
            "1.1",
            [("content-length", "1"), ("transfer-encoding", "chunked")],
            400,
            "The request has both Content-Length and Transfer-Encoding; send one of them.",
        ),
        ("1.1", [("content-length", "-1")], 400, no_number("-1")),
        ("1.1", [("content-length", "+1")], 400, no_number("+1")),
        ("1.1", [("content-length", "١")], 400, no_number("١")),
        ("1.1", [("content-length", "")], 400, no_number("")),
        ("1.1", [("content-length", "9" * 19)], 400, no_number("9" * 19)),
        ("1.1", [("content-length", "9" * 41)], 400, no_number("9" * 40)),
        ("1.1", [("transfer-encoding", "gzip, chunked")], 501, no_coding("gzip, chunked")),
        ("1.1", [("transfer-encoding", "x" * 41)], 501, no_coding("x" * 40)),
        (
            "1.1",
            [("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")],
            501,
            no_coding("chunked, chunked"),
        ),
        (
            "1.0",
            [("transfer-encoding", "chunked")],
            400,
            "An HTTP/1.0 request cannot be chunked; send a Content-Length.",
        ),
    ],
)
def test_a_body_of_two_lengths_or_none_is_refused_in_words(
    version: str, headers: list[tuple[str, str]], status: int, sentence: str
) -> None:
    with pytest.raises(Refusal) as refused:
        check_framing(version, headers)
    assert (refused.value.status, refused.value.sentence) == (status, sentence)


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
