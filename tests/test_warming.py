"""Clients that are not told whom to trust share one list of authorities; those that are told trust as they are told."""

import ssl
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme


def trust(client: Any) -> ssl.SSLContext:
    context = client._transport._pool._ssl_context
    assert isinstance(context, ssl.SSLContext)
    return context


def test_clients_that_are_not_told_whom_to_trust_share_the_usual_list() -> None:
    with httpx.Client() as one, httpx.Client() as other:
        assert trust(one) is trust(other)
        assert trust(one).verify_mode is ssl.CERT_REQUIRED
        assert trust(one).check_hostname
        assert trust(one).get_ca_certs()


def test_a_client_that_is_told_whom_to_trust_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = trustme.CA()
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.configure_trust(own)
    known = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(known)
    with httpx.Client(verify=own) as by_argument, httpx.Client(verify=False) as nobody:
        assert trust(by_argument) is own
        assert trust(nobody).verify_mode is ssl.CERT_NONE
    monkeypatch.setenv("SSL_CERT_FILE", str(known))
    with httpx.Client() as by_environment:
        assert trust(by_environment).get_ca_certs() == own.get_ca_certs()
