"""The client that fetches a site's pages: it refuses private addresses, unlimited answers and invalid sitemaps."""

import gzip
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from internal_linker.sources.web.access import SiteAccess
from internal_linker.sources.web.client import FetchRefused, NoAnswer, SiteClient, is_public, site_of
from internal_linker.sources.web.site_files import NoSitemap, packed_sitemap, read_sitemap
from tests.support.web_server import Reply, Site


@pytest.fixture
def client() -> Iterator[SiteClient]:
    made = SiteClient(0, allow_private=True)
    yield made
    made.close()


PRIVATE = (
    "127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.1.1 255.255.255.255 198.18.0.1 "
    "168.63.129.16 ::1 :: fe80::1%eth0 fd00:ec2::254 fec0::1 ff0e::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 "
    "2002:7f00:1:: 2001:db8::1 192.0.0.1 192.0.0.8 192.0.0.170 192.0.0.192 192.0.2.1 192.88.99.1 "
    "198.51.100.1 203.0.113.1 "
    "240.0.0.1 ::ffff:192.0.0.8 ::ffff:0:7f00:1 64:ff9b::c000:8 64:ff9b:1::1 100::1 2001::1 2001:2::1 2002:808:808:: "
    "3fff::1 5f00::1 ::808:808"
)


PUBLIC = "8.8.8.8 192.0.1.1 100.63.255.255 172.32.0.1 2606:4700::1111 64:ff9b::808:808 ::ffff:8.8.8.8"


def test_addresses_are_public_or_not() -> None:
    assert [address for address in PRIVATE.split() if is_public(address)] == []
    assert [address for address in PUBLIC.split() if not is_public(address)] == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]"])
def test_a_private_host_is_not_even_connected_to(host: str, site: Site) -> None:
    """The client checks the address it connects to, however the host's name is spelled."""
    client = SiteClient(0, allow_private=False, silence=1)
    with pytest.raises(FetchRefused, match="--allow-private"):
        client.get(site.url.replace("127.0.0.1", host) + "/")
    client.close()
    assert site.asked == []


@pytest.mark.parametrize(
    ("reply", "reason"), [(Reply(slow=3), "in time"), (Reply("x", endless=True), "in time|larger")]
)
def test_no_answer_takes_for_ever(reply: Reply, reason: str, site: Site) -> None:
    site.pages = {"/": reply}
    client = SiteClient(0, allow_private=True, silence=0.2, longest=0.3)
    with pytest.raises(NoAnswer, match=reason):
        client.get(site.url + "/")
    client.close()


@pytest.mark.long
@pytest.mark.parametrize("proxied", [False, True])
def test_a_head_that_drips_ends(proxied: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            for _ in range(3):
                connection, _address = server.accept()
                with connection, suppress(OSError):
                    connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                    for _ in range(100):
                        connection.sendall(b"x")
                        time.sleep(0.05)

        threading.Thread(target=drip, daemon=True).start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        access = {"http://staging.example": SiteAccess(proxy=address)}
        client = SiteClient(0, allow_private=True, silence=0.3, longest=0.5, access=access)
        began = time.monotonic()
        with pytest.raises(NoAnswer, match="in time"):
            client.get("http://staging.example/" if proxied else f"{address}/")
        client.close()
    assert time.monotonic() - began < 8


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://WWW.Tea.example:443/a?b#c", "tea.example"),
        ("http://tea.example:8080", "tea.example:8080"),
        ("https://bücher.example/ä", "xn--bcher-kva.example"),
        ("https://shop.tea.example", "shop.tea.example"),
        ("/a", ""),
        ("https://[", ""),
    ],
)
def test_what_a_site_is(url: str, site: str) -> None:
    """A site is a normalised host and port, with or without www.; a subdomain is another site."""
    assert site_of(url) == site


def certificate(folder: Path, host: str) -> Path:
    """Write a file with a private key and a self-signed certificate for this host."""
    key, now = rsa.generate_private_key(65537, 2048), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
    parts = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path = folder / "both.pem"
    path.write_bytes(
        key.private_bytes(*parts) + builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
    )
    return path


def test_certificates_are_for_the_hosts_name(
    site: Site, client: SiteClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A certificate is checked against the host's name, not the connected address; unknown issuers are refused."""
    path = certificate(tmp_path, "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    site.secure(context)
    site.pages = {"/": "tea"}
    with pytest.raises(NoAnswer, match="self-signed"):
        client.get(site.url.replace("127.0.0.1", "localhost") + "/")
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    trusting = SiteClient(0, allow_private=True)
    assert trusting.get(site.url.replace("127.0.0.1", "localhost") + "/").body == b"tea"
    with pytest.raises(NoAnswer, match="not valid for '127.0.0.1'"):
        trusting.get(site.url + "/")
    trusting.close()


BAD = {
    "a bomb of entities": b'<!DOCTYPE x [<!ENTITY a "b">]><urlset><url><loc>&a;</loc></url></urlset>',
    "elements in elements": b"<urlset>" * 1_000,
    "a page": b"<html><body><p>Not found</p></body></html>",
    "another encoding": b'<?xml version="1.0" encoding="x-klingon"?><urlset/>',
    "words": b"not found",
}


@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_what_is_no_sitemap_is_refused(data: bytes) -> None:
    with pytest.raises(NoSitemap, match="it is not a sitemap"):
        read_sitemap(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (gzip.compress(b" " * 60_000_000, mtime=0), "decompresses to more than 50 MB"),
        (gzip.compress(b"https://a.example/", mtime=0)[:-4], "incomplete"),
        (b"\x1f\x8bno", "damaged"),
    ],
)
def test_a_packed_sitemap_is_bounded(data: bytes, reason: str) -> None:
    with pytest.raises(NoSitemap, match=reason):
        packed_sitemap(data)


def pressed(data: bytes, encoding: str) -> bytes:
    """Return data as a server sends it with this Content-Encoding."""
    raw = zlib.compressobj(wbits=-15)
    match encoding:
        case "gzip" | "X-GZIP":
            return gzip.compress(data, mtime=0)
        case "deflate":
            return zlib.compress(data)
        case "Deflate":
            return raw.compress(data) + raw.flush()
    return data


@pytest.mark.parametrize("encoding", ["gzip", "X-GZIP", "deflate", "Deflate", "identity"])
def test_a_compressed_answer_is_read(encoding: str, site: Site, client: SiteClient) -> None:
    text = b"Green tea is steamed. " * 1000
    site.pages = {"/": Reply(pressed(text, encoding), headers={"Content-Encoding": encoding})}
    assert client.get(site.url + "/").body == text
    assert site.asked[0][1]["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (pressed(bytes(2_000_000), "gzip"), "gzip"),
        (pressed(b"Green tea is steamed.", "gzip")[:-3], "gzip"),
        (pressed(b"Green tea is steamed.", "deflate")[:-3], "deflate"),
        (b"\x1f\x8bnoise" * 9, "Deflate"),
        (b"\x1f\x8bnoise" * 9, "br"),
    ],
    ids=["bomb", "gzip cut off", "deflate cut off", "noise", "unknown"],
)
def test_a_compressed_answer_is_bounded(body: bytes, encoding: str, site: Site, client: SiteClient) -> None:
    """An answer that would fill the memory, is cut off or is something else has a reason."""
    site.pages = {"/": Reply(body, headers={"Content-Encoding": encoding})}
    with pytest.raises(NoAnswer, match="decompresse") as caught:
        client.get(site.url + "/", most=1_000_000)
    assert "(br) is unknown" in str(caught.value) or encoding != "br"


def test_a_sitemap_may_begin_with_a_mark_and_blank_lines() -> None:
    data = b"<urlset><url><loc>https://a.example/</loc></url></urlset>"
    assert read_sitemap(b"\xef\xbb\xbf\r\n" + data) == ([], ["https://a.example/"])


def test_a_host_that_does_not_exist_is_named(client: SiteClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise OSError("Name or service not known")

    monkeypatch.setattr("socket.getaddrinfo", unknown)
    with pytest.raises(NoAnswer, match="no such host"):
        client.get("http://nowhere.example/")
