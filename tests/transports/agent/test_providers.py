"""The servers of models, over real sockets."""

import json
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from types import SimpleNamespace
from typing import cast

import pytest
import trio
import trustme

from codec.agent.addresses import BadAddress
from codec.agent.answering import AnswerLimits
from codec.agent.models import (
    CalledTool,
    Delta,
    Finished,
    ModelConfig,
    ModelFact,
    ModelRequest,
    ModelTrouble,
    Provider,
    SaidText,
    SaidThought,
    UsedTokens,
)
from tests.agent.fakes import (
    Asked,
    Call,
    Die,
    Done,
    Fail,
    FakeModel,
    FakeOllama,
    FakeOpenAI,
    Forever,
    Hang,
    Leave,
    Pause,
    Raw,
    Refuse,
    Say,
    Script,
    Think,
    Usage,
)
from tests.agent.fakes.script import Play, Step
from tests.transports.agent.asked import FAMILIES, MODEL, hasty, no_builtin, request, stand
from transports.agent.asking import PATIENCE, Patience
from transports.agent.providers import Families, Server

both = pytest.mark.parametrize("provider", FAMILIES)

SCRIPT: list[Step] = [
    Think("Hm, ä."),
    Say("Grüße 🙂"),
    Say("!\r\n"),
    Call("read_file", {"path": "ä.py", "lines": [1, 2]}, "call_a"),
    Call("search_text", {"words": "x\ny"}, "call_b"),
    Usage(11, 5),
    Done(),
]


def plain(deltas: list[Delta]) -> list[object]:
    """Without the ids of calls, which Ollama does not give."""
    return [(d.call.name, d.call.arguments) if isinstance(d, CalledTool) else d for d in deltas]


TOLD = [
    SaidThought("Hm, ä."),
    SaidText("Grüße 🙂"),
    SaidText("!\r\n"),
    ("read_file", {"path": "ä.py", "lines": [1, 2]}),
    ("search_text", {"words": "x\ny"}),
    UsedTokens(prompt=11, completion=5),
    Finished("tool_calls"),
]


@pytest.mark.slow
@both
@pytest.mark.parametrize(("cut", "torn"), [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (0, 2), (0, 7), (1, 7), (3, 1)])
async def test_an_answer_comes_whole_through_any_cut(provider: Provider, cut: int, torn: int) -> None:
    async with stand(provider, SCRIPT, cut=cut, torn=torn) as here:
        assert plain(await here.answer()) == TOLD


@pytest.mark.slow
@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
@pytest.mark.parametrize("cut", [1, 2])
async def test_an_answer_with_other_line_ends_comes_whole_through_any_cut(end: bytes, cut: int) -> None:
    async with stand("vllm", SCRIPT, cut=cut, end=end, thoughts="reasoning") as here:
        assert plain(await here.answer()) == TOLD


async def test_the_ids_of_calls_are_the_server_s_or_new_ones() -> None:
    async with stand("vllm", SCRIPT) as here:
        assert [delta.call.id for delta in await here.answer() if isinstance(delta, CalledTool)] == ["call_a", "call_b"]
    async with stand("ollama", SCRIPT) as here:
        ids = [delta.call.id for answer in (1, 2) for delta in await here.answer() if isinstance(delta, CalledTool)]
        assert len(set(ids)) == 4


async def test_a_question_says_what_is_asked() -> None:
    async with stand("ollama", [Done()]) as here:
        await here.answer()
        (asked,) = here.fake.asked
        assert asked.body["options"] == {"num_ctx": 8192, "temperature": 0.7}
        assert asked.body["tools"][0]["function"]["name"] == "read_file"
        assert asked.headers["accept-encoding"] == "identity"
        assert "authorization" not in asked.headers


async def test_the_model_that_is_built_in_answers_here() -> None:
    def at_once(request: ModelRequest) -> list[Delta]:
        return [SaidText(request.model.model_name), Finished()]

    async def bit_by_bit(request: ModelRequest) -> AsyncIterator[Delta]:
        for delta in at_once(request):
            yield delta

    for builtin in (at_once, bit_by_bit):
        families = Families([Server("builtin")], builtin)
        async with families.stream(request("builtin", model="builtin")) as deltas:
            assert [delta async for delta in deltas] == [SaidText("builtin"), Finished()]
        await families.check(request("builtin"))
        assert await families.listed() == ([], [])


# -- addresses


@pytest.mark.parametrize("written", ["{}", "{}/", "{}/v1", "{}/v1/", "{}/v1/chat/completions"])
async def test_an_address_may_be_written_with_v1_or_without(written: str) -> None:
    async with FakeOpenAI(lambda _: [Say("a"), Done()]).running() as fake:
        families = Families([Server("openai", written.format(fake.url))], no_builtin)
        async with families.stream(request("openai")) as deltas:
            assert [delta async for delta in deltas] == [SaidText("a"), Finished()]
        async with families.stream(request("openai", written.format(fake.url))) as deltas:
            assert [delta async for delta in deltas] == [SaidText("a"), Finished()]


async def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(BadAddress, match="http or https"):
        Families([Server("openai", "ftp://x")], no_builtin)
    with pytest.raises(ModelTrouble, match="http or https") as trouble:
        async with Families([], no_builtin).stream(request("openai", "file:///etc/passwd")):
            pass
    assert not trouble.value.recoverable


# -- which servers are asked


@pytest.mark.parametrize("others", [[], ["loopback"], ["http://127.0.0.1:1", "http://box.lan/gpu"]], ids=str)
@pytest.mark.parametrize(
    ("url", "named_by"),
    [
        ("http://127.0.0.1:1", "loopback http://127.0.0.1:1"),
        ("http://127.0.0.1:1/api/v1", "loopback http://127.0.0.1:1"),
        ("localhost:5555", "loopback"),
        ("http://box.lan/gpu", "http://box.lan/gpu"),
        ("http://box.lan/gpu/two/v1", "http://box.lan/gpu"),
        ("http://box.lan/gpu-of-others", ""),
        ("http://box.lan", ""),
        ("https://box.lan/gpu", ""),
        ("http://box.lan:81/models", ""),
        ("http://192.168.0.1", ""),
        ("https://collector.example", ""),
        ("http://own.lan:8000", "always"),
    ],
)
async def test_only_servers_that_the_settings_name_are_asked(url: str, named_by: str, others: list[str]) -> None:
    families = Families([Server("vllm", "http://own.lan:8000")], no_builtin, others=others)
    asked = request("vllm", url)
    if named_by == "always" or any(each in named_by.split() for each in others):
        families.expect(asked.model)
        return
    for way in (families.stream(asked).__aenter__, partial(families.check, asked)):
        with pytest.raises(ModelTrouble, match="is not asked, because the settings do not name it") as trouble:
            await way()
        assert not trouble.value.recoverable
    with pytest.raises(ModelTrouble, match="model_addresses in the section"):
        families.expect(asked.model)


async def test_a_family_without_a_server_is_asked_at_no_address_that_nobody_named() -> None:
    families = Families([Server("ollama")], no_builtin)
    with pytest.raises(ModelTrouble, match=r"No server of openai is configured\..*There is builtin and ollama now"):
        families.expect(request("openai").model)
    families.expect(request("builtin", "http://nowhere.example", model="builtin").model)


LINK_LOCAL = [
    "http://169.254.169.254/latest/meta-data",
    "http://169.254.0.1:8000",
    "http://[fe80::1]:80",
    "http://[::ffff:169.254.169.254]",
    "http://[2002:a9fe:a9fe::1]",
    "http://[64:ff9b::a9fe:a9fe]",
    "http://2852039166",
    "http://0xa9fea9fe",
    "http://0251.0376.0251.0376",
    "http://169.254.43518",
    "http://[fd00:ec2::254]",
    "http://100.100.100.200",
    "http://metadata.google.internal",
    "http://metadata.google.internal./",
]


@pytest.mark.parametrize("url", LINK_LOCAL)
async def test_no_setting_makes_a_link_local_address_a_server_of_models(url: str) -> None:
    configured = Families([Server("vllm", url)], no_builtin)
    named = Families([], no_builtin, others=[url])
    for families, asked in ((configured, request("vllm")), (named, request("vllm", url))):
        with pytest.raises(ModelTrouble, match="link-local, or where a cloud tells a machine its keys"):
            families.expect(asked.model)
        with pytest.raises(ModelTrouble, match="link-local"):
            await families.check(asked)
    facts, silent = await configured.listed()
    assert facts == []
    assert "link-local" in silent[0]


@pytest.mark.parametrize(
    ("url", "there", "says"),
    [
        ("http://box.lan:{}", "169.254.169.254", "link-local"),
        ("http://box.lan:{}", "fe80::1%lo", "link-local"),
        ("http://models.localhost:{}", "192.0.2.7", "its name leads to another machine"),
    ],
)
async def test_nothing_is_sent_where_a_name_leads_to_what_must_not_be_asked(
    monkeypatch: pytest.MonkeyPatch, url: str, there: str, says: str
) -> None:
    """The connection is made to a server of ours, which is said to be elsewhere."""
    heard: list[bytes] = []
    done = trio.Event()

    async def serve(stream: trio.SocketStream) -> None:
        async with stream:
            heard.append(await stream.receive_some(65536))
            done.set()

    async def here(host: object, port: int, *_: object, **__: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    trio.socket.set_custom_hostname_resolver(cast("trio.abc.HostnameResolver", SimpleNamespace(getaddrinfo=here)))
    monkeypatch.setattr("httpcore._backends.trio.TrioStream.get_extra_info", lambda *_: (there, 80))
    async with served(serve) as own:
        url = url.format(own.rpartition(":")[2])
        with pytest.raises(ModelTrouble, match=says):
            await Families([Server("ollama", url)], no_builtin).check(request("ollama", url))
        await done.wait()
        assert heard == [b""], "the connection is closed before anything is sent"


# -- keys


KEY = "sk-very-secret-1234"


async def test_a_key_goes_to_its_own_address_only() -> None:
    async with FakeOpenAI(lambda _: [Done()]).running() as own, FakeOpenAI(lambda _: [Done()]).running() as other:
        servers = [Server("openai", own.url + "/v1", "THE_KEY"), Server("vllm", other.url)]
        families = Families(servers, no_builtin, environment={"THE_KEY": f" {KEY}\n"})
        for asked in (request("openai"), request("openai", other.url), request("vllm"), request("vllm", own.url)):
            async with families.stream(asked) as deltas:
                assert [delta async for delta in deltas] == [Finished()]
            await families.check(asked)
        await families.listed()
        sent = [asked.headers.get("authorization") for asked in own.asked]
        assert sent == [f"Bearer {KEY}"] * 2 + [None] * 2 + [f"Bearer {KEY}"]
        assert {asked.headers.get("authorization") for asked in other.asked} == {None}


@pytest.mark.parametrize("status", [400, 401, 404, 500, 302])
async def test_a_key_is_in_no_error_and_no_log(status: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    def play(asked: Asked) -> Script:
        sent = asked.headers["authorization"]
        return Refuse(
            status, json.dumps({"error": f"the model refuses {sent}"}).encode(), {"location": "http://other/"}
        )

    async with stand("openai", play, key=KEY) as here:
        _, trouble = await here.trouble()
        assert here.fake.asked[0].headers["authorization"] == f"Bearer {KEY}"
        assert KEY not in str(trouble)
        assert trouble.__cause__ is None
    assert KEY not in caplog.text
    families = Families([Server("openai", "http://h", "THE_KEY")], no_builtin, environment={"THE_KEY": KEY})
    assert KEY not in repr(families._place_of(request("openai").model))


async def test_a_key_is_asked_for_by_the_variable_s_name() -> None:
    async with stand("openai", [Done()], key="wrong") as here:
        here.fake._key = KEY  # type: ignore[attr-defined]
        _, trouble = await here.trouble()
        assert "refuses the key in THE_KEY. Put a valid key there" in str(trouble)
        assert 'It says: "Incorrect API key provided: ....' in str(trouble)
        families = Families([Server("openai", here.fake.url, "OTHER_KEY")], no_builtin, environment={})
        with pytest.raises(ModelTrouble, match="Put it into the environment as OTHER_KEY"):
            async with families.stream(here.request):
                pass
        _, silent = await families.listed()
        assert "OTHER_KEY" in silent[0]


async def test_a_key_that_no_head_can_hold_is_not_sent() -> None:
    async with stand("openai", [Done()], key="sk-ä\r\nX: y") as here:
        _, trouble = await here.trouble()
        assert str(trouble).endswith("what THE_KEY holds in the environment is no key.")
        assert here.fake.asked == []


# -- proxies and redirects


async def test_no_proxy_stands_between_us_and_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with stand("ollama", [Done()]) as here:
        assert await here.answer() == [Finished()]


async def test_a_proxy_that_cannot_be_used_is_a_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:9")
    with pytest.raises(ModelTrouble, match="was not asked"):
        async with Families([Server("openai", "http://192.0.2.1:9")], no_builtin).stream(request("openai")):
            pass


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_no_redirect_is_followed(status: int) -> None:
    async with FakeOpenAI(lambda _: [Done()]).running() as other:
        async with stand("openai", Refuse(status, b"", {"location": f"{other.url}/v1?a=b"}), key=KEY) as here:
            _, trouble = await here.trouble()
        assert f"sends us on to {other.url}/v1. We do not follow" in str(trouble)
        assert other.visits == []


@pytest.mark.parametrize("location", ["http://[::1", "\x7f", "http://a:b:c", "//", "http://" + "x" * 5000])
async def test_an_odd_redirect_is_a_trouble(location: str) -> None:
    async with stand("openai", Refuse(302, b"", {"location": location})) as here:
        _, trouble = await here.trouble()
        assert str(trouble)


# -- what goes wrong


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(
    ("provider", "says"),
    [
        ("ollama", "Ollama at {} does not answer; is it running? Start it with `ollama serve`."),
        ("vllm", "vLLM at {} does not answer; is it running? Start it with `vllm serve MODEL`."),
        ("llamacpp", "llama.cpp at {} does not answer; is it running? Start it with `llama-server -m MODEL.gguf`."),
        ("openai", "The models' server at {} does not answer; is it running?"),
    ],
)
async def test_a_server_that_is_not_there_is_said_to_be_started(provider: Provider, says: str) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    families = Families([Server(provider, url)], no_builtin)
    with pytest.raises(ModelTrouble) as trouble:
        async with families.stream(request(provider)):
            pass
    assert str(trouble.value) == says.format(url)
    assert trouble.value.recoverable
    with pytest.raises(ModelTrouble, match="does not answer"):
        await families.check(request(provider))
    assert await families.listed() == ([], [says.format(url)])


async def test_a_name_that_is_not_known_is_said_to_be_so() -> None:
    async def nobody(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    trio.socket.set_custom_hostname_resolver(cast("trio.abc.HostnameResolver", SimpleNamespace(getaddrinfo=nobody)))
    with pytest.raises(ModelTrouble, match=r"the name nowhere\.invalid is not known"):
        async with Families([Server("openai", "http://nowhere.invalid")], no_builtin).stream(request("openai")):
            pass


async def test_a_connection_that_is_never_taken_is_given_up() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        url = f"http://127.0.0.1:{full.getsockname()[1]}"
        others = [socket.socket() for _ in range(8)]
        for other in others:
            other.setblocking(False)
            other.connect_ex(full.getsockname())
        families = Families([Server("ollama", url)], no_builtin, patience=hasty(connect=0.05))
        with pytest.raises(ModelTrouble, match=r"did not take a connection within 0\.05 seconds"):
            async with families.stream(request("ollama")):
                pass
        for other in others:
            other.close()


async def test_a_certificate_that_nobody_vouches_for_is_said_to_be_so() -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)

    async def shake(stream: trio.SocketStream) -> None:
        with pytest.raises(trio.BrokenResourceError):
            await trio.SSLStream(stream, context, server_side=True).do_handshake()

    async with served(shake) as url:
        with pytest.raises(ModelTrouble, match=r"does not trust .* SSL_CERT_FILE") as trouble:
            async with Families([], no_builtin).stream(request("vllm", url.replace("http:", "https:"))):
                pass
    assert not trouble.value.recoverable, "it will not be trusted the next time either"


async def test_a_server_without_tls_is_said_to_have_none() -> None:
    async with FakeOllama(lambda _: [Done()]).running() as fake:
        with pytest.raises(ModelTrouble, match=r"does not speak TLS\. Does its address begin with http://"):
            async with Families([], no_builtin).stream(request("ollama", fake.url.replace("http:", "https:"))):
                pass


async def test_a_server_with_a_certificate_that_is_trusted_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    authority = trustme.CA()
    trusted = tmp_path_factory.mktemp("trusted") / "ca.pem"
    authority.cert_pem.write_to_path(str(trusted))
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    answer = b'{"message":{"content":"safe"}}\n{"done":true}\n'

    async def serve(stream: trio.SocketStream) -> None:
        async with trio.SSLStream(stream, context, server_side=True, https_compatible=True) as safe:
            await safe.receive_some(65536)
            await safe.send_all(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(answer) + answer)

    families = Families([], no_builtin)
    async with served(serve) as url, families.stream(request("ollama", url.replace("http:", "https:"))) as deltas:
        assert [delta async for delta in deltas] == [SaidText("safe"), Finished()]


@both
@pytest.mark.parametrize(
    ("script", "says"),
    [
        ([Say("a"), Say("b"), Die()], "broke off the connection. Try again."),
        ([Say("a"), Say("b"), Leave()], "broke off the connection. Try again."),
        ([Say("a"), Say("b")], "broke off in the middle of its answer. Try again."),
        ([Say("a"), Say("b"), Fail("out of memory")], 'failed. It says: "out of memory"'),
        ([Say("a"), Say("b"), Raw(b"data: \xff<garbage>\n\n")], "no answer of a model"),
    ],
)
async def test_an_answer_that_ends_badly_is_told_as_far_as_it_came(
    provider: Provider, script: Script, says: str
) -> None:
    async with stand(provider, script) as here:
        found, trouble = await here.trouble()
        assert found == [SaidText("a"), SaidText("b")]
        assert says in str(trouble)
        assert here.fake.url in str(trouble)
        assert trouble.recoverable
        await here.fake.visits[0].gone.wait()


@both
@pytest.mark.parametrize("script", [[Die()], [Leave()]])
async def test_a_server_that_goes_before_its_first_byte_is_a_trouble(provider: Provider, script: Script) -> None:
    async with stand(provider, script, early_head=False) as here:
        found, trouble = await here.trouble()
        assert (found, trouble.recoverable) == ([], True)
        assert "broke off the connection" in str(trouble)


@both
async def test_a_model_that_is_not_there_is_said_to_be_missing(provider: Provider) -> None:
    async with stand(provider, [Done()], models=[FakeModel("a"), FakeModel("b")]) as here:
        _, trouble = await here.trouble()
        assert f"has no model {MODEL!r}." in str(trouble)
        assert not trouble.recoverable
        with pytest.raises(ModelTrouble, match=r"It has a, b\.") as missing:
            await here.families.check(here.request)
        assert not missing.value.recoverable


@both
async def test_a_model_that_is_there_passes_its_check(provider: Provider) -> None:
    async with stand(provider, [Done()]) as here:
        await here.families.check(here.request)


@both
@pytest.mark.parametrize(("status", "recoverable"), [(400, False), (429, True), (500, True), (503, True)])
async def test_a_status_is_a_sentence(provider: Provider, status: int, recoverable: bool) -> None:
    async with stand(provider, Refuse(status, b'{"error":"as you see"}', {"retry-after": "7"})) as here:
        _, trouble = await here.trouble()
        assert "as you see" in str(trouble)
        assert trouble.recoverable is recoverable


async def test_the_text_of_an_error_has_a_limit_and_a_deadline() -> None:
    async def endless(stream: trio.SocketStream) -> None:
        async with stream:
            await stream.receive_some(65536)
            await stream.send_all(b"HTTP/1.1 500 Oh\r\ntransfer-encoding: chunked\r\n\r\n")
            with suppress(trio.BrokenResourceError):
                while True:
                    await stream.send_all(b"3e8\r\n" + b"x" * 1000 + b"\r\n")

    trouble = await trouble_of(endless, hasty(refusal=20.0))
    assert "status 500" in str(trouble)
    assert len(str(trouble)) < 500

    async def silent(stream: trio.SocketStream) -> None:
        async with stream:
            await stream.receive_some(65536)
            await stream.send_all(b"HTTP/1.1 500 Oh\r\ncontent-length: 100\r\n\r\nso far")
            await stream.receive_some(1)

    assert 'status 500). It says: "so far"' in str(await trouble_of(silent, hasty(refusal=0.05)))


Serve = Callable[[trio.SocketStream], Awaitable[None]]


async def trouble_of(serve: Serve, patience: Patience = PATIENCE) -> ModelTrouble:
    """The trouble that a server of bytes makes."""
    async with served(serve) as url:
        with pytest.raises(ModelTrouble) as trouble:
            async with Families([], no_builtin, patience=patience).stream(request("ollama", url)) as deltas:
                assert [delta async for delta in deltas] == []
    return trouble.value


@asynccontextmanager
async def served(serve: Serve) -> AsyncIterator[str]:
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        nursery.cancel_scope.cancel()


OK = b"HTTP/1.1 200 OK\r\n"
ODD_HEADS = [
    (b"SSH-2.0-OpenSSH_9.2\r\n", "broke off the connection"),
    (b"HTTP/1.1 99999 What\r\n\r\n", "illegal status line"),
    (OK + b"no colon\r\n\r\n", "illegal header line"),
    (OK + b"content-length: many\r\n\r\n", "bad Content-Length"),
    (
        b"HTTP/1.1 200 OK\r\nset-cookie: \xff=\x80; expires=never; max-age=x\r\ncontent-length: 0\r\n\r\n",
        "broke off in the middle of its answer",
    ),
    (
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n\x1f\x8b",
        "sent a compressed answer ('gzip')",
    ),
    (OK + b"content-type: text/html\r\ncontent-length: 6\r\n\r\n<html>", "answers with a web page"),
    (OK + b"transfer-encoding: chunked\r\n\r\nnot a length\r\n", "illegal chunk header"),
    (OK + b"content-length: 99\r\n\r\nshort", "broke off the connection"),
    (b"HTTP/1.1 302 Found\r\nlocation: \xff\xfe\r\ncontent-length: 0\r\n\r\n", "sends us on to ÿþ"),
    (b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", "does not speak HTTP"),
    (OK + b"x: " + b"y" * 200_000 + b"\r\n\r\n", "Receive buffer too long"),
    (b"HTTP/1.1 100 Go on\r\n\r\n" * 20, "broke off the connection"),
    (b"\x00" * 1000, "illegal request line"),
    (b"", "broke off the connection"),
]


@pytest.mark.parametrize(("head", "says"), ODD_HEADS, ids=range(len(ODD_HEADS)))
async def test_a_server_that_speaks_oddly_is_a_trouble(head: bytes, says: str) -> None:
    async def serve(stream: trio.SocketStream) -> None:
        async with stream:
            await stream.receive_some(65536)
            try:
                await stream.send_all(head)
            except trio.BrokenResourceError:
                return

    trouble = await trouble_of(serve)
    assert says in str(trouble)
    assert str(trouble).isprintable()
    assert len(str(trouble)) < 600


# -- what can be left out


def refusing(part: str, says: str) -> Play:
    def play(asked: Asked) -> Script:
        return Refuse(400, json.dumps({"error": says}).encode()) if part in asked.body else [Say("fine"), Done()]

    return play


@pytest.mark.parametrize(
    ("provider", "part", "says"),
    [
        ("ollama", "tools", "registry.ollama.ai/library/gemma:2b does not support tools"),
        ("vllm", "temperature", "Unsupported value: 'temperature'"),
        ("vllm", "stream_options", "extra inputs are not permitted: stream_options"),
    ],
)
async def test_what_a_server_refuses_and_can_do_without_is_left_out(provider: Provider, part: str, says: str) -> None:
    async with stand(provider, refusing(part, says)) as here:
        assert await here.answer() == [SaidText("fine"), Finished()]
        assert [part in asked.body for asked in here.fake.asked] == [True, False]


async def test_a_server_that_refuses_it_anyway_is_asked_once_more_only() -> None:
    async with stand("vllm", Refuse(400, b'{"error":"temperature"}')) as here:
        _, trouble = await here.trouble()
        assert 'refuses the request (status 400). It says: "temperature"' in str(trouble)
        assert len(here.fake.asked) == 2


async def test_a_whole_completion_is_taken_where_a_stream_was_asked_for() -> None:
    whole = {"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}

    def play(_: Asked) -> Script:
        return Refuse(200, json.dumps(whole).encode(), {"content-type": "application/json; charset=utf-8"})

    async with stand("vllm", play) as here:
        assert await here.answer() == [SaidText("whole"), Finished()]


# -- limits and deadlines


@both
async def test_a_model_that_says_nothing_is_given_up(provider: Provider) -> None:
    for early in (False, True):
        async with stand(provider, [Hang()], patience=hasty(first=0.05), early_head=early) as here:
            found, trouble = await here.trouble()
            assert found == []
            assert "said nothing for 0.05 seconds" in str(trouble)
            await here.fake.visits[0].gone.wait()


@both
async def test_a_model_that_falls_silent_is_given_up(provider: Provider) -> None:
    async with stand(provider, [Say("a"), Hang()], patience=hasty(next=0.05)) as here:
        found, trouble = await here.trouble()
        assert found == [SaidText("a")]
        assert "said nothing for 0.05 seconds" in str(trouble)


async def test_comments_are_signs_of_life_but_not_for_ever(autojump_clock: trio.testing.MockClock) -> None:
    async with stand("vllm", endless_comments(), patience=hasty(first=10, next=10, whole=60)) as here:
        before = trio.current_time()
        _, trouble = await here.trouble()
        assert "did not finish within 60 seconds" in str(trouble)
        assert 60 <= trio.current_time() - before < 62


def endless_comments() -> Iterator[Step]:
    while True:
        yield Pause(1)
        yield Raw(b": still here\n\n")


async def test_an_answer_whose_end_is_only_announced_ends_soon() -> None:
    chunk = b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n'
    async with stand("vllm", [Raw(chunk), Hang()], patience=hasty(ending=0.05)) as here:
        assert await here.answer() == [SaidText("a"), Finished()]


@both
async def test_an_endless_answer_is_given_up(provider: Provider) -> None:
    async with stand(provider, [Forever("ha ")], limits=AnswerLimits(text=3000)) as here:
        found, trouble = await here.trouble()
        assert sum(len(delta.text) for delta in found if isinstance(delta, SaidText)) == 3000
        assert "more than 3,000 characters" in str(trouble)
        await here.fake.visits[0].gone.wait()


@both
async def test_what_json_cannot_say_is_not_sent_and_that_is_said(provider: Provider) -> None:
    async with stand(provider, []) as here:
        said = request(provider, here.fake.url, says="half a pair: \ud800")
        with pytest.raises(ModelTrouble, match="was not asked: the conversation holds something that JSON") as raised:
            async with here.families.stream(said) as deltas:
                assert [delta async for delta in deltas] == []
        assert not raised.value.recoverable
        assert here.fake.asked == []


async def test_bytes_without_end_are_given_up() -> None:
    async with stand("vllm", [Raw(b": " + b"x" * 1000 + b"\n")] * 100, patience=hasty(answer_bytes=5000)) as here:
        _, trouble = await here.trouble()
        assert "sent more than 5,000 bytes in one answer." in str(trouble)


# -- what there is


async def test_all_servers_are_listed_at_once_and_a_dead_one_is_a_sentence() -> None:
    async with FakeOllama(lambda _: [Done()]).running() as one, FakeOpenAI(lambda _: [Done()]).running() as two:
        dead = f"http://127.0.0.1:{free_port()}"
        servers = [Server("llamacpp", dead), Server("ollama", one.url), Server("vllm", two.url)]
        facts, silent = await Families(servers, no_builtin).listed()
        assert list(facts) == [
            ModelFact(
                id=name, provider="ollama", url=one.url, display_name=name, context_window=window, capabilities=able
            )
            for name, window, able in (
                ("qwen3:8b", 40960, ("completion", "tools", "thinking")),
                ("tiny:latest", 2048, ("completion", "tools")),
            )
        ] + [
            ModelFact(id=name, provider="vllm", url=two.url, display_name=name, context_window=window)
            for name, window in (("qwen3:8b", 40960), ("tiny:latest", 2048))
        ]
        assert list(silent) == [
            f"llama.cpp at {dead} does not answer; is it running? Start it with `llama-server -m MODEL.gguf`."
        ]


async def test_the_window_of_llama_cpp_is_the_one_that_it_was_started_with() -> None:
    models = [FakeModel("/models/q4.gguf", 16384)]
    async with stand("llamacpp", [Done()], models=models, like_llama_cpp=True) as here:
        facts, silent = await here.families.listed()
        (fact,) = facts
        assert (fact.id, fact.display_name, fact.context_window, silent) == ("/models/q4.gguf", "q4.gguf", 16384, [])
        await here.families.check(request("llamacpp", here.fake.url, model="any name"))
    async with stand("llamacpp", [Done()], models=[FakeModel("a", 0)]) as here:
        assert [fact.context_window for fact in (await here.families.listed())[0]] == [None]


async def test_servers_that_hang_are_all_given_up_after_two_seconds(autojump_clock: trio.testing.MockClock) -> None:
    async def hang(stream: trio.SocketStream) -> None:
        async with stream:
            while await stream.receive_some(65536):
                pass

    async with served(hang) as url:
        families = Families([Server("ollama", url), Server("vllm", url), Server("llamacpp", url)], no_builtin)
        before = trio.current_time()
        facts, silent = await families.listed()
        assert 2 <= trio.current_time() - before < 2.5
        assert facts == []
        assert [sentence.partition(" at ")[0] for sentence in silent] == ["Ollama", "vLLM", "llama.cpp"]
        assert all("did not say within 2 seconds which models it has" in sentence for sentence in silent)
        with pytest.raises(ModelTrouble, match="did not answer within 5 seconds"):
            await families.check(request("ollama"))


async def test_a_list_of_more_than_we_take_is_a_sentence() -> None:
    many = [FakeModel(f"model-{number}") for number in range(200)]
    async with stand("vllm", [Done()], models=many, patience=hasty(list_bytes=1000)) as here:
        _, silent = await here.families.listed()
        assert "sent more than 1,000 bytes where a short answer was expected." in silent[0]


async def test_a_server_without_a_list_passes_the_check() -> None:
    async def serve(stream: trio.SocketStream) -> None:
        async with stream:
            await stream.receive_some(65536)
            await stream.send_all(b"HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n")

    async with served(serve) as url:
        await Families([], no_builtin).check(request("openai", url))


async def test_without_an_address_the_first_server_of_the_provider_is_asked() -> None:
    async with (
        FakeOllama(lambda _: [Say("one"), Done()]).running() as one,
        FakeOllama(lambda _: [Done()]).running() as two,
    ):
        families = Families([Server("vllm"), Server("ollama", one.url), Server("ollama", two.url)], no_builtin)
        asked = ModelRequest(model=ModelConfig(provider="ollama", model_name=MODEL), messages=())
        async with families.stream(asked) as deltas:
            assert [delta async for delta in deltas] == [SaidText("one"), Finished()]
        assert two.visits == []
