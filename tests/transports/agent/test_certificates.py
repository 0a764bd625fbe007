"""Certificates are made on demand, hold for this machine alone, and are renewed in time."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trio
import trio.testing
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from transports.agent.certificates import (
    AUTHORITY_KEY,
    SERVER,
    SERVER_LASTS,
    CertificatesUnusable,
    certificates,
)
from transports.agent.private import AUTHORITY

NOW = datetime.now(UTC)
USES = [
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
]
"""What may be asked of any key; two more are only told of one that agrees keys."""


async def handshake(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.SSLStream(ours, server, server_side=True).do_handshake)
        await trio.SSLStream(theirs, client, server_hostname=name).do_handshake()


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "::1", "127.0.0.9"])
async def test_whoever_trusts_the_authority_trusts_the_server(tmp_path: Path, name: str) -> None:
    made = certificates(tmp_path, ["127.0.0.9"], NOW)
    await handshake(made.context, ssl.create_default_context(cafile=str(made.authority)), name)


def test_a_connection_is_never_negotiated_anew_nor_in_an_old_version(tmp_path: Path) -> None:
    context = certificates(tmp_path, [], NOW).context
    assert ssl.OP_NO_RENEGOTIATION in context.options, "before OpenSSL 3 any client could ask for it again and again"
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2


async def test_nobody_else_does(tmp_path: Path) -> None:
    made = certificates(tmp_path, [], NOW)
    with pytest.raises(BaseExceptionGroup) as caught:
        await handshake(made.context, ssl.create_default_context(), "localhost")
    assert "unable to get local issuer certificate" in repr(caught.value.exceptions[0].__cause__)


def test_they_are_kept_until_they_are_about_to_end_or_name_other_hosts(tmp_path: Path) -> None:
    first = certificates(tmp_path, [], NOW)
    server = (tmp_path / SERVER).read_bytes()
    assert certificates(tmp_path, [], NOW + timedelta(days=1)).fingerprint == first.fingerprint
    assert (tmp_path / SERVER).read_bytes() == server
    assert certificates(tmp_path, ["127.0.0.2"], NOW).fingerprint == first.fingerprint
    other = (tmp_path / SERVER).read_bytes()
    assert other != server
    assert certificates(tmp_path, ["127.0.0.2"], NOW + SERVER_LASTS).fingerprint == first.fingerprint
    assert (tmp_path / SERVER).read_bytes() != other


def test_the_keys_are_this_accounts_alone(tmp_path: Path) -> None:
    certificates(tmp_path, [], NOW)
    modes = {name: (tmp_path / name).stat().st_mode & 0o777 for name in (AUTHORITY, AUTHORITY_KEY, SERVER)}
    assert modes == {AUTHORITY: 0o644, AUTHORITY_KEY: 0o600, SERVER: 0o600}
    (tmp_path / AUTHORITY_KEY).chmod(0o644)
    before = (tmp_path / AUTHORITY).read_bytes()
    certificates(tmp_path, [], NOW)
    assert (tmp_path / AUTHORITY).read_bytes() != before, "a key that others could read is worth nothing"


def test_each_certificate_may_do_only_what_it_is_made_for(tmp_path: Path) -> None:
    certificates(tmp_path, [], NOW)
    for name, may, is_authority in (
        (AUTHORITY, {"key_cert_sign", "crl_sign"}, True),
        (SERVER, {"digital_signature"}, False),
    ):
        (made,) = x509.load_pem_x509_certificates((tmp_path / name).read_bytes())
        usage = made.extensions.get_extension_for_class(x509.KeyUsage)
        assert {each for each in USES if getattr(usage.value, each)} == may
        basic = made.extensions.get_extension_for_class(x509.BasicConstraints)
        assert (basic.value.ca, basic.value.path_length) == (is_authority, 0 if is_authority else None)
        assert usage.critical
        assert basic.critical
        assert made.not_valid_before_utc <= NOW - timedelta(minutes=59), "the clocks of this machine may differ"
    extended = made.extensions.get_extension_for_class(x509.ExtendedKeyUsage)
    assert list(extended.value) == [ExtendedKeyUsageOID.SERVER_AUTH]


def test_certificates_that_are_none_are_told_in_words(tmp_path: Path) -> None:
    certificates(tmp_path, [], NOW)
    (tmp_path / AUTHORITY).write_text("nonsense")
    with pytest.raises(CertificatesUnusable, match="Remove"):
        certificates(tmp_path, [], NOW)
