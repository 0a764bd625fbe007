from socket import inet_aton

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codec.agent.addresses import (
    DEFAULTS,
    LONGEST,
    LOOPBACK,
    BadAddress,
    is_loopback,
    is_named,
    is_never_asked,
    kept_address,
    openai_root,
)
from codec.agent.models import Provider

WRITTEN: list[tuple[str, Provider, str]] = [
    ("localhost:11434", "ollama", "http://localhost:11434"),
    (" http://127.0.0.1:11434/ ", "ollama", "http://127.0.0.1:11434"),
    ("http://127.0.0.1:11434/api/chat", "ollama", "http://127.0.0.1:11434"),
    ("http://127.0.0.1:11434/v1", "ollama", "http://127.0.0.1:11434"),
    ("http://[::1]:11434/api/", "ollama", "http://[::1]:11434"),
    ("https://Proxy.Example:443/ollama/", "ollama", "https://proxy.example/ollama"),
    ("http://127.0.0.1:8000/v1/", "vllm", "http://127.0.0.1:8000"),
    ("http://127.0.0.1:8000/v1/models", "vllm", "http://127.0.0.1:8000"),
    ("https://openrouter.ai/api/v1/chat/completions", "openai", "https://openrouter.ai/api"),
    ("https://openrouter.ai/api", "openai", "https://openrouter.ai/api"),
    ("https://api.z.ai/api/paas/v4/", "openai", "https://api.z.ai/api/paas/v4"),
    ("", "llamacpp", "http://127.0.0.1:8080"),
    ("http://h/" + "a" * (LONGEST - 9), "openai", "http://h/" + "a" * (LONGEST - 9)),
    (f"http://{'a' * 63}.example", "openai", f"http://{'a' * 63}.example"),
    ("http://bücher.example", "openai", "http://bücher.example"),
    ("HTTP://host:80", "openai", "http://host"),
    ("http://host:443", "openai", "http://host:443"),
    ("https://host:443", "openai", "https://host"),
    ("https://host:80", "openai", "https://host:80"),
    ("https://[::1]:443/v1", "openai", "https://[::1]"),
    ("http://host:1", "openai", "http://host:1"),
    ("http://host/api", "openai", "http://host/api"),
    ("http://host/models", "ollama", "http://host/models"),
]


@pytest.mark.parametrize(("text", "provider", "kept"), WRITTEN)
def test_an_address_is_kept_in_one_form_however_it_is_written(text: str, provider: Provider, kept: str) -> None:
    assert kept_address(text, provider) == kept


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ftp://host", "http or https"),
        ("file:///etc/passwd", "http or https"),
        ("http://", "names no server; write it like"),
        ("http://host:99999", "no address"),
        ("http://[::1", "no address"),
        ("http://ho st", "no address"),
        ("http://host/\r\nX: y", "no address"),
        ("http://host?key=1", "after its path"),
        ("http://host/#x", "after its path"),
        ("http://" + "a" * 3000, "no address"),
        ("http://a..b", "no address"),
        (f"http://{'a' * 64}.example", "no address"),
        ("http://host:0", "names no server; write it like"),
        ("http://:80", "names no server; write it like"),
        ("http://@host", "environment variable"),
        ("http://h/" + "a" * (LONGEST - 8), "no address"),
    ],
)
def test_what_is_no_address_is_refused_with_an_example(text: str, says: str) -> None:
    with pytest.raises(BadAddress, match=says):
        kept_address(text, "openai")


def test_a_key_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(BadAddress) as refused:
        kept_address("https://me:sk-secret@host/v1", "openai")
    assert "sk-secret" not in str(refused.value)
    assert "environment variable" in str(refused.value)


@given(st.text(max_size=60), st.sampled_from(list(DEFAULTS)))
def test_any_text_is_an_address_that_stays_the_same_or_is_refused(text: str, provider: Provider) -> None:
    try:
        kept = kept_address(text, provider)
    except BadAddress:
        return
    assert kept_address(kept, provider) == kept
    assert not kept.endswith("/")


@pytest.mark.parametrize(
    ("address", "root"),
    [
        ("https://api.openai.com", "https://api.openai.com/v1"),
        ("https://openrouter.ai/api", "https://openrouter.ai/api/v1"),
        ("https://api.z.ai/api/paas/v4", "https://api.z.ai/api/paas/v4"),
        (
            "https://generativelanguage.googleapis.com/v1beta/openai",
            "https://generativelanguage.googleapis.com/v1beta/openai",
        ),
    ],
)
def test_v1_is_added_unless_the_address_names_a_version(address: str, root: str) -> None:
    assert openai_root(address) == root


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("http://127.0.0.1:1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:1", True),
        ("http://localhost:1", True),
        ("http://models.localhost", True),
        ("http://0.0.0.0:1", True),
        ("http://192.168.1.2:1", False),
        ("http://localhost.example", False),
        ("http://127.0.0.1.example", False),
        ("http://localhost.", True),
        ("http://127.0.0.1.:1", True),
        ("http://127.1", True),
        ("http://2130706433", True),
        ("http://0x7f.1", True),
        ("http://0177.0.0.1", True),
        ("http://017700000001", True),
        ("http://0", True),
        ("http://08.1", False),
        ("http://1.2.3.4.5", False),
        ("http://4294967296", False),
        ("http://128.1", False),
        ("http://[::]", True),
        ("http://[::ffff:127.0.0.1]", True),
        ("http://[2002:7f00:1::]", True),
        ("http://[64:ff9b::7f00:1]", True),
        ("http://[64:ff9b::808:808]", False),
        ("http://[::1%25lo]", True),
    ],
)
def test_this_machine_is_told_from_others(address: str, here: bool) -> None:
    assert is_loopback(address) is here


EDGES = [0, 1, 126, 127, 128, 255, 256, 65535, 65536, 2**24 - 1, 2**24]
NUMBERS = st.one_of(st.sampled_from(EDGES), st.integers(0, 2**32))
PARTS = st.lists(st.tuples(NUMBERS, st.sampled_from(["{:d}", "{:#x}", "0{:o}"])), min_size=1, max_size=5)


@given(PARTS)
@example([(127, "{:d}"), (0, "{:d}"), (0, "{:d}"), (256, "{:d}")])
@example([(383, "{:d}"), (1, "{:d}")])
def test_an_odd_number_means_what_the_system_takes_it_for(parts: list[tuple[int, str]]) -> None:
    host = ".".join(form.format(number) for number, form in parts)
    try:
        here = inet_aton(host)[0] == 127 or inet_aton(host) == bytes(4)
    except OSError:
        here = False
    assert is_loopback(f"http://{host}") is here


@pytest.mark.parametrize(
    ("address", "never"),
    [
        ("http://169.254.169.254", True),
        ("http://169.253.255.255", False),
        ("http://169.255.0.0", False),
        ("http://2852039166", True),
        ("http://0xa9.0376.43518", True),
        ("http://[::ffff:169.254.1.1]", True),
        ("http://[64:ff9b::a9fe:a9fe]", True),
        ("http://[2002:a9fe:a9fe::1]", True),
        ("http://[fe80::1%25eth0]", True),
        ("http://[fec0::1]", False),
        ("http://[fd00:ec2::254]", True),
        ("http://[fd00:ec2::253]", False),
        ("http://100.100.100.200", True),
        ("http://168.63.129.16:80/x", True),
        ("http://192.0.0.192", True),
        ("http://metadata", True),
        ("http://metadata.google.internal.", True),
        ("http://metadata.example", False),
        ("http://127.0.0.1", False),
    ],
)
def test_metadata_of_clouds_is_never_asked_however_its_place_is_written(address: str, never: bool) -> None:
    assert is_never_asked(address) is never


@pytest.mark.parametrize(
    ("address", "others", "named"),
    [
        ("http://a:1", ["http://a:1"], True),
        ("http://a:1/v2", ["http://b", "http://a:1"], True),
        ("http://a:12", ["http://a:1"], False),
        ("http://a:1", ["http://a:1/v2"], False),
        ("http://127.0.0.1:1", [LOOPBACK], True),
        ("http://loopback", [LOOPBACK], False),
        ("http://a:1", [], False),
    ],
)
def test_a_setting_names_an_address_and_what_is_below_it(address: str, others: list[str], named: bool) -> None:
    assert is_named(address, others) is named
