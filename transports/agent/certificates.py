"""Certificates for the agent's port, made on demand: that of an authority of this machine's own, and the server's,
which the authority signs.

    agent-ca.pem     the authority, which the user may tell a browser or an editor to trust
    agent-ca.key     its key, for this account alone
    agent-tls.pem    the server's certificate and key, made anew when it is about to end or names other hosts

The authority can only vouch for the names and addresses of this machine's loopback (its name constraints say so): if
its key is stolen, it is worth nothing elsewhere.
"""

import ipaddress
import secrets
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from msgspec import Struct

from transports.agent.private import AUTHORITY, read_private, write_private

AUTHORITY_KEY, SERVER = "agent-ca.key", "agent-tls.pem"
AUTHORITY_LASTS = timedelta(days=3650)
SERVER_LASTS = timedelta(days=365)
RENEWED_BEFORE = timedelta(days=30)
LOOPBACKS = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))


class CertificatesUnusable(Exception):
    """The text is a sentence for the user."""


class Certificates(Struct, frozen=True):
    context: ssl.SSLContext
    fingerprint: str
    """The authority's: SHA-256, as browsers show it."""
    authority: Path


def certificates(folder: Path, hosts: Sequence[str], now: datetime) -> Certificates:
    """Those in this folder, made where they are missing or about to end. Raises CertificatesUnusable."""
    try:
        authority, key = _authority(folder, now)
        server = folder / SERVER
        if not _serves(server, authority, hosts, now):
            write_private(server, _server(authority, key, hosts, now))
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_RENEGOTIATION  # which trio does not expect, and attackers only ask for
        context.load_cert_chain(server)
    except (OSError, ValueError, TypeError) as error:
        raise CertificatesUnusable(
            f"The certificates in {folder} cannot be used ({error}). Remove {AUTHORITY}, {AUTHORITY_KEY} and {SERVER} "
            "there, and new ones are made."
        ) from None
    digest = authority.fingerprint(hashes.SHA256()).hex(":").upper()
    return Certificates(context, digest, folder / AUTHORITY)


def _authority(folder: Path, now: datetime) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    secret = read_private(folder / AUTHORITY_KEY)
    if secret is not None and (folder / AUTHORITY).exists():
        kept = x509.load_pem_x509_certificate((folder / AUTHORITY).read_bytes())
        old = serialization.load_pem_private_key(secret, None)
        if isinstance(old, ec.EllipticCurvePrivateKey) and now < kept.not_valid_after_utc - RENEWED_BEFORE:
            return kept, old
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Troupe on this machine {secrets.token_hex(4)}")])
    made = (
        _certificate(name, name, key.public_key(), now, AUTHORITY_LASTS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(
            x509.NameConstraints([x509.DNSName("localhost"), *map(x509.IPAddress, LOOPBACKS)], None), critical=True
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    write_private(folder / AUTHORITY_KEY, _key_bytes(key))
    write_private(folder / AUTHORITY, made.public_bytes(serialization.Encoding.PEM), mode=0o644)
    return made, key


def _server(authority: x509.Certificate, key: ec.EllipticCurvePrivateKey, hosts: Sequence[str], now: datetime) -> bytes:
    own = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    made = (
        _certificate(name, authority.subject, own.public_key(), now, SERVER_LASTS)
        .add_extension(x509.SubjectAlternativeName(_names(hosts)), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return _key_bytes(own) + made.public_bytes(serialization.Encoding.PEM)


def _serves(path: Path, authority: x509.Certificate, hosts: Sequence[str], now: datetime) -> bool:
    """Whether the server's certificate there is this authority's, for these hosts, and good for a while."""
    try:
        kept = x509.load_pem_x509_certificate(read_private(path) or b"")
        kept.verify_directly_issued_by(authority)
        names = kept.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except Exception:  # whatever is odd about it: another is made
        return False
    return now < kept.not_valid_after_utc - RENEWED_BEFORE and set(names) == set(_names(hosts))


def _names(hosts: Sequence[str]) -> list[x509.GeneralName]:
    addresses = [ipaddress.ip_address(host) for host in dict.fromkeys(("127.0.0.1", "::1", *hosts))]
    return [x509.DNSName("localhost"), *map(x509.IPAddress, addresses)]


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, lasts: timedelta
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + lasts)


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _key_bytes(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def aware_now() -> datetime:
    return datetime.now(UTC)
