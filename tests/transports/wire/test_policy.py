import pytest
from hypothesis import given
from hypothesis import strategies as st

from transports.wire.policy import HostPolicy
from transports.wire.refusal import Refusal

POLICY = HostPolicy(
    names=("box.lan", "localhost:9999"),
    origins=("https://tools.example", "vscode-webview://*"),
)
RULES = POLICY.at(5160, hosts=("127.0.0.1", "::1"))


@pytest.mark.parametrize(
    "host", ["localhost:5160", "LOCALHOST:5160", "127.0.0.1:5160", "[::1]:5160", "box.lan:5160", "localhost:9999"]
)
def test_our_own_names_are_let_in(host: str) -> None:
    assert RULES.check([host], []) is None


@pytest.mark.parametrize(
    ("hosts", "status"),
    [
        ([], 400),
        (["localhost:5160", "localhost:5160"], 400),
        ([""], 421),
        (["localhost"], 421),
        (["localhost:5161"], 421),
        (["localhost.:5160"], 421),
        (["localhost:5160.evil.example"], 421),
        (["evil.example"], 421),
        (["evil.example:5160"], 421),
        (["127.0.0.1.evil.example:5160"], 421),
        (["user@localhost:5160"], 421),
        (["::1:5160"], 421),
        (["127.1:5160"], 421),
        (["box.lan:9999"], 421),
    ],
)
def test_any_other_host_is_refused(hosts: list[str], status: int) -> None:
    with pytest.raises(Refusal) as refused:
        RULES.check(hosts, [])
    assert refused.value.status == status
    known = "127.0.0.1:5160, [::1]:5160, box.lan:5160, localhost:5160, localhost:9999"
    assert (
        refused.value.sentence
        == {
            0: "The request has no Host header.",
            1: f"This server is not {hosts[0] if hosts else None!r}; ask for it by a name it answers to: {known}.",
            2: "The request has more than one Host header.",
        }[len(hosts)]
    )


def test_of_a_long_name_the_beginning_is_told() -> None:
    with pytest.raises(Refusal, match=f"This server is not '{'h' * 80}'; "):
        RULES.check(["h" * 81], [])
    with pytest.raises(Refusal, match=f"A page of '{'o' * 80}' may not"):
        RULES.check(["localhost:5160"], ["o" * 81])


@pytest.mark.parametrize(
    "origin", ["http://localhost:5160", "HTTP://LOCALHOST:5160", "http://127.0.0.1:5160", "http://[::1]:5160"]
)
def test_our_own_pages_are_let_in(origin: str) -> None:
    assert RULES.check(["localhost:5160"], [origin]) is None


@pytest.mark.parametrize("origin", ["https://tools.example", "vscode-webview://0a1b2c"])
def test_a_configured_origin_is_let_in_and_named(origin: str) -> None:
    assert RULES.check(["localhost:5160"], [origin]) == origin


@pytest.mark.parametrize(
    "origins",
    [
        ["null"],
        [""],
        ["http://evil.example"],
        ["http://localhost:3000"],
        ["http://localhost"],
        ["https://localhost:5160"],
        ["http://localhost:5160.evil.example"],
        ["https://tools.example.evil.example"],
        ["http://tools.example"],
        ["evil://vscode-webview://x"],
        ["http://localhost:5160", "http://localhost:5160"],
    ],
)
def test_any_other_page_is_refused(origins: list[str]) -> None:
    with pytest.raises(Refusal) as refused:
        RULES.check(["localhost:5160"], origins)
    assert (refused.value.status, refused.value.sentence) == (
        (400, "The request has more than one Origin header.")
        if len(origins) > 1
        else (
            403,
            f"A page of {origins[0]!r} may not use this server; its own pages may, and programs that send no Origin.",
        )
    )


def test_the_refusal_says_which_names_are_right() -> None:
    with pytest.raises(Refusal, match=r"not 'evil\.example'; ask for it by a name it answers to: .*localhost:5160"):
        RULES.check(["evil.example"], [])


@pytest.mark.parametrize(("hosts", "origins"), [(["evil.example"], []), (["localhost:5160"], ["http://evil.example"])])
def test_a_refusal_promises_no_setting_that_there_is_not(hosts: list[str], origins: list[str]) -> None:
    with pytest.raises(Refusal) as refused:
        RULES.check(hosts, origins)
    assert "configur" not in refused.value.sentence


def test_the_default_port_need_not_be_said() -> None:
    assert HostPolicy().at(443, secure=True).check(["localhost"], ["https://localhost"]) is None
    assert HostPolicy().at(80).check(["localhost"], ["http://localhost"]) is None


def test_an_address_the_door_is_bound_to_is_a_name_of_it_but_any_address_is_not() -> None:
    assert HostPolicy().at(5160, hosts=("192.168.1.5",)).check(["192.168.1.5:5160"], []) is None
    with pytest.raises(Refusal):
        HostPolicy().at(5160, hosts=("0.0.0.0",)).check(["0.0.0.0:5160"], [])


# -- pages of other servers on loopback

OPEN = HostPolicy(loopback=True, setting="sidekick.origins").at(5163)
LOOPBACKS = ["localhost", "127.0.0.1", "[::1]"]


@given(st.sampled_from(["http", "https"]), st.sampled_from(LOOPBACKS), st.none() | st.integers(0, 65535))
def test_a_page_of_any_server_on_loopback_is_let_in_where_the_door_is_open_to_them(
    scheme: str, host: str, port: int | None
) -> None:
    origin = f"{scheme}://{host}" + ("" if port is None else f":{port}")
    assert OPEN.check(["localhost:5163"], [origin]) in (origin, None)


@given(
    st.sampled_from(["http://", "https://", "ftp://", "http:", "//", ""]),
    st.sampled_from([*LOOPBACKS, "127.0.0.2", "::1", "localhost.evil.example", "evil.example", "[::1].evil.example"]),
    st.sampled_from(["", ":", ":3000", ":3000.evil.example", ":3000@evil.example", "/", ":99999999", ":3000\n"]),
)
def test_what_only_looks_like_loopback_is_not(scheme: str, host: str, rest: str) -> None:
    right = scheme in ("http://", "https://") and host in LOOPBACKS and rest in ("", ":3000")
    if right:
        return
    with pytest.raises(Refusal, match=r"Others can be named in sidekick\.origins\."):
        OPEN.check(["localhost:5163"], [scheme + host + rest])


# -- who may post and do nothing else


@pytest.mark.parametrize("origin", ["chrome-extension://abc", "MOZ-extension://1f4e"])
def test_a_poster_may_post_and_nothing_else(origin: str) -> None:
    rules = HostPolicy(posters=("chrome-extension://*", "moz-extension://*")).at(10043)
    assert rules.check(["localhost:10043"], [origin], posts=True) == origin.lower()
    with pytest.raises(Refusal, match="An extension may post problems here"):
        rules.check(["localhost:10043"], [origin])


def test_that_somebody_posts_opens_the_door_to_nobody_else() -> None:
    with pytest.raises(Refusal):
        RULES.check(["localhost:5160"], ["http://evil.example"], posts=True)


# -- what a browser says of a request without an Origin


@pytest.mark.parametrize(
    ("site", "mode", "allowed"),
    [
        ("", "", True),  # no browser, or an old one
        ("same-origin", "cors", True),
        ("same-origin", "no-cors", True),
        ("none", "navigate", True),  # typed, or a bookmark
        ("cross-site", "navigate", True),  # a link, a frame: who may frame us is said elsewhere
        ("same-site", "navigate", True),
        ("none", "cors", False),  # an extension
        ("none", "no-cors", False),
        ("cross-site", "no-cors", False),  # a picture in another page
        ("same-site", "no-cors", False),
        ("cross-site", "", False),
    ],
)
def test_in_a_browser_only_our_own_pages_read_and_people_go_to_them(site: str, mode: str, allowed: bool) -> None:
    given = [site] if site else [], [mode] if mode else []
    if allowed:
        RULES.check_fetch(*given)
    else:
        with pytest.raises(Refusal, match="may not read this"):
            RULES.check_fetch(*given)
