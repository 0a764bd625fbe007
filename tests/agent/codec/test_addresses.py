import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.addresses import DEFAULTS, BadAddress, is_loopback, kept_address, openai_root
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
]


@pytest.mark.parametrize(("text", "provider", "kept"), WRITTEN)
def test_an_address_is_kept_in_one_form_however_it_is_written(text: str, provider: Provider, kept: str) -> None:
    assert kept_address(text, provider) == kept


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ftp://host", "http or https"),
        ("file:///etc/passwd", "http or https"),
        ("http://", "names no server"),
        ("http://host:99999", "no address"),
        ("http://[::1", "no address"),
        ("http://ho st", "no address"),
        ("http://host/\r\nX: y", "no address"),
        ("http://host?key=1", "after its path"),
        ("http://host/#x", "after its path"),
        ("http://" + "a" * 3000, "no address"),
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
    ],
)
def test_this_machine_is_told_from_others(address: str, here: bool) -> None:
    assert is_loopback(address) is here
