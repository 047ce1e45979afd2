"""Downloads from local test servers, most of them hostile."""

from __future__ import annotations

import contextlib
import datetime
import gzip
import io
import ipaddress
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from chalicelib.errors import DownloadFailed, LeaseLost, TooLarge
from chalicelib.stores.fetching import pinned_http
from chalicelib.stores.fetching.downloads import Downloader, Fetched, Probe

Handler = Callable[[socket.socket, str], None]


class Site:
    """A local server that answers with a function and records requests."""

    def __init__(self, handler: Handler, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[str] = []
        self._handler = handler
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def url(self, path: str = "/file.csv", host: str = "127.0.0.1") -> str:
        """Return a URL of this server."""
        return f"http{'s' if self._tls else ''}://{host}:{self.port}{path}"

    def _serve(self) -> None:
        """Answer connections one after the other until the listener is closed."""
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError), connection:
                connection.settimeout(5)
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        """Read the request and let the handler answer."""
        if self._tls:
            connection = self._tls.wrap_socket(connection, server_side=True)
        with connection:
            request = b""
            while not request.endswith(b"\r\n\r\n"):
                part = connection.recv(4096)
                if not part:
                    return
                request += part
            self.requests.append(request.decode())
            self._handler(connection, request.decode().split(" ")[1])

    def close(self) -> None:
        """Stop listening; may be called twice."""
        if self._listener.fileno() == -1:
            return
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(60)


MakeSite = Callable[..., Site]


@pytest.fixture
def site() -> Iterator[MakeSite]:
    """A function that starts servers, which end with the test."""
    sites: list[Site] = []

    def make(answer: bytes | Handler, tls: ssl.SSLContext | None = None) -> Site:
        """Start a server that returns fixed bytes or calls a function."""
        handler = (lambda sock, _: sock.sendall(answer)) if isinstance(answer, bytes) else answer
        sites.append(Site(handler, tls))
        return sites[-1]

    yield make
    for made in sites:
        made.close()


def _answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """Build an answer with the right length unless the headers say otherwise."""
    lines = [f"HTTP/1.1 {status}", *headers]
    names = [header.partition(":")[0] for header in headers]
    if "Content-Length" not in names and "Transfer-Encoding" not in names:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def _redirect(url: str) -> bytes:
    """Build a redirect."""
    return _answer(b"", f"Location: {url}", status="302 Found")


def _fetch(url: str, max_bytes: int = 1000, seconds: float = 5.0, **options: object) -> bytes:
    """Fetch with loopback addresses allowed."""
    options.setdefault("allowed", ["127.0.0.1"])
    target = io.BytesIO()
    Downloader(**options).fetch(url, target, max_bytes, seconds)
    return target.getvalue()


def _resolves_to(*addresses: str) -> Callable[..., list[object]]:
    """Return a resolver with fixed addresses."""

    def resolve(host: str, port: int, **_: object) -> list[object]:
        """Answer like socket.getaddrinfo."""
        return [
            (
                socket.AF_INET6 if ":" in address else socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                (address, port),
            )
            for address in addresses
        ]

    return resolve


def test_fetch_when_the_file_is_there(site: MakeSite) -> None:
    """Bytes, size and name are returned; the request names the host and accepts no compression."""
    made = site(_answer(b"text,label", 'Content-Disposition: attachment; filename="rows.csv"'))
    target = io.BytesIO()

    fetched = Downloader(["127.0.0.1"]).fetch(made.url("/x?a=b c"), target, 10, 5)

    assert fetched == Fetched("rows.csv", 10)
    assert target.getvalue() == b"text,label"
    assert made.requests[0].startswith("GET /x?a=b%20c HTTP/1.1\r\n")
    assert f"Host: 127.0.0.1:{made.port}\r\n" in made.requests[0]
    assert "Accept-Encoding: identity\r\n" in made.requests[0]


@pytest.mark.parametrize(
    "answer",
    [
        _answer(b"5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
        b"HTTP/1.0 200 OK\r\n\r\nhello!",
        b"HTTP/1.1 100 Continue\r\n\r\n" + _answer(b"hello!"),
        _answer(b"hello!", "Content-Encoding: identity"),
        _answer(b"hello! and more than stated", "Content-Length: 6"),
    ],
)
def test_fetch_when_lengths_are_given_differently(site: MakeSite, answer: bytes) -> None:
    """A body ends by chunks, by its stated length, or by the end of the connection."""
    assert _fetch(site(answer).url()) == b"hello!"


def test_check_when_the_file_is_there(site: MakeSite) -> None:
    """A check reads only the beginning and returns size and name."""
    made = site(_answer(b"x" * 100_000))
    unstated = site(b"HTTP/1.0 200 OK\r\n\r\nPK")
    downloader = Downloader(["127.0.0.1"])

    assert downloader.check(made.url("/a/b.zip"), 100_000) == Probe("b.zip", 100_000, b"x" * 4096)
    assert downloader.check(unstated.url("/"), 100) == Probe("", None, b"PK")
    with pytest.raises(TooLarge, match=r"99,999 bytes, it is 100,000 bytes"):
        downloader.check(made.url(), 99_999)


@pytest.mark.parametrize("status", ["404 Not Found", "403 No", "500 Oops", "204 None", "206 Part"])
def test_check_when_the_status_is_not_200(site: MakeSite, status: str) -> None:
    """Any status except 200 raises the documented error with the cause."""
    made = site(_answer(b"x", status=status))

    with pytest.raises(DownloadFailed) as caught:
        Downloader(["127.0.0.1"]).check(made.url(), 100)

    assert caught.value.status == 400
    assert caught.value.message == "Failed to download the dataset from the public URL."
    assert caught.value.detail == f"The server answered with status {status[:3]}."


def test_check_when_it_is_a_sample(site: MakeSite) -> None:
    """The error names what was to be downloaded."""
    made = site(_answer(b"x", status="404 Not Found"))

    with pytest.raises(DownloadFailed, match="Failed to download the sample from"):
        Downloader(["127.0.0.1"]).check(made.url(), 100, "the sample")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.0.1./",
        "http://0/",
        "http://localhost/",
        "http://localhost./",
        "http://LOCALHOST/",
        "http://ⓛocalhost/",
        "http://①②⑦.⓪.⓪.①/",
        "http://127。0。0。1/",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://2852039166/",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:a9fe:a9fe::]/",
        "http://[fd00:ec2::254]/",
        "http://10.0.0.1/",
        "http://192.168.0.1/",
        "http://user@127.0.0.1/",
        "http://example.org@127.0.0.1/",
        "http://127.0.0.1#@example.org/",
        "http://127.0.0.1\\@example.org/",
    ],
)
def test_check_when_the_address_is_private(url: str) -> None:
    """A private address is never connected to, however it is written."""
    started = time.monotonic()

    with pytest.raises(DownloadFailed):
        Downloader(resolver=_numeric_only).check(url, 100)

    assert time.monotonic() - started < 2


def _numeric_only(host: str, port: int, **options: int) -> object:
    """Resolve numeric addresses only, without the network."""
    if host == "localhost":
        return socket.getaddrinfo("127.0.0.1", port, **options)
    with contextlib.suppress(OSError):
        host = socket.inet_ntoa(socket.inet_aton(host))
    address = str(ipaddress.ip_address(host))
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return [(family, socket.SOCK_STREAM, 6, "", (address, port))]


@pytest.mark.parametrize(
    "addresses",
    [["8.8.8.8", "10.0.0.1"], ["10.0.0.1", "8.8.8.8"], ["2606:4700::1", "::1"], ["224.0.0.1"]],
)
def test_check_when_one_of_the_addresses_is_private(addresses: list[str]) -> None:
    """A host is refused unless all of its addresses are public."""
    with pytest.raises(DownloadFailed, match="not on the public internet"):
        Downloader(resolver=_resolves_to(*addresses)).check("http://files.example/x", 100)


def test_check_when_the_name_is_unknown() -> None:
    """An unknown host name is reported as such."""
    with pytest.raises(DownloadFailed, match="cannot be resolved"):
        Downloader(resolver=_resolves_to()).check("http://files.example/x", 100)


def test_check_when_the_look_up_hangs() -> None:
    """A hanging resolver is abandoned at the deadline."""
    release = threading.Event()

    def resolve(*_: object, **__: object) -> list[object]:
        """Hang like a resolver without servers."""
        release.wait(5)
        return []

    with pytest.raises(DownloadFailed, match=r"longer than 0\.2 seconds"):
        Downloader(resolver=resolve, check_seconds=0.2).check("http://files.example/x", 100)
    release.set()


def test_fetch_when_a_name_would_change_its_address(site: MakeSite) -> None:
    """A host is resolved once, and the checked address is the one connected to."""
    made = site(_answer(b"hello"))
    calls: list[str] = []

    def resolve(host: str, port: int, **_: object) -> list[object]:
        """Return loopback first and a metadata address afterwards."""
        calls.append(host)
        return _resolves_to("127.0.0.1" if len(calls) == 1 else "169.254.169.254")(host, port)

    body = _fetch(made.url(host="Files.Example"), resolver=resolve)

    assert body == b"hello"
    assert calls == ["files.example"]
    assert f"Host: files.example:{made.port}\r\n" in made.requests[0]


def test_fetch_when_the_first_address_is_dead(site: MakeSite) -> None:
    """If the first address does not accept connections, the next one is tried."""
    made = site(_answer(b"hello"))
    resolver = _resolves_to("127.0.0.2", "127.0.0.1")

    body = _fetch(made.url(host="files.example"), allowed=["127.0.0.0/8"], resolver=resolver)

    assert body == b"hello"


def test_fetch_when_the_port_is_closed(site: MakeSite) -> None:
    """A refused connection is a failed download."""
    made = site(b"")
    url = made.url()
    made.close()

    with pytest.raises(DownloadFailed, match="connection failed"):
        _fetch(url)


def test_fetch_when_proxies_are_set(site: MakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxy variables of the process are not used."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    assert _fetch(site(_answer(b"hello")).url()) == b"hello"


def test_fetch_when_it_redirects_three_times(site: MakeSite) -> None:
    """Up to three redirects are followed, also relative ones; the last URL names the file."""

    def answer(sock: socket.socket, path: str) -> None:
        """Redirect with an increasing number."""
        count = int(path[1])
        sock.sendall(_redirect(f"/{count + 1}.csv") if count < 3 else _answer(b"done"))

    made = site(answer)
    target = io.BytesIO()

    assert Downloader(["127.0.0.1"]).fetch(made.url("/0"), target, 9, 5) == Fetched("3.csv", 4)
    assert len(made.requests) == 4


@pytest.mark.parametrize("place", ["/again", "", "//127.0.0.1:{port}/x"])
def test_fetch_when_it_redirects_for_ever(site: MakeSite, place: str) -> None:
    """A fourth redirect is not followed."""
    made = site(lambda sock, _: sock.sendall(_redirect(place.format(port=made.port))))

    with pytest.raises(DownloadFailed, match="more than 3 times"):
        _fetch(made.url())
    assert len(made.requests) == 4


@pytest.mark.parametrize(
    "place",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.2/",
        "http://[::1]/",
        "file:///etc/passwd",
        "http://user@127.0.0.1/",
        "http://10.0.0.1/",
    ],
)
def test_fetch_when_it_redirects_to_a_private_place(site: MakeSite, place: str) -> None:
    """The target of a redirect is checked like the URL itself."""
    with pytest.raises(DownloadFailed):
        _fetch(site(_redirect(place)).url(), resolver=_numeric_only)


def test_fetch_when_a_redirect_leads_to_another_port(site: MakeSite) -> None:
    """An allow-list entry with a port allows no other port, also after a redirect."""
    inner = site(_answer(b"secret"))
    outer = site(_redirect(inner.url()))

    with pytest.raises(DownloadFailed, match="not on the public internet"):
        _fetch(outer.url(), allowed=[f"127.0.0.1:{outer.port}"])
    assert inner.requests == []


def test_fetch_when_the_stated_length_is_over_the_limit(site: MakeSite) -> None:
    """A stated length over the limit is refused before the body is read."""
    with pytest.raises(TooLarge, match=r"is 1,000 bytes, it is 1,001 bytes") as caught:
        _fetch(site(_answer(b"x", "Content-Length: 1001")).url())
    assert caught.value.status == 413


def test_fetch_when_the_stated_length_is_not_reached(site: MakeSite) -> None:
    """A body shorter than its stated length is a failure."""
    with pytest.raises(DownloadFailed, match="after 5 of 9 bytes"):
        _fetch(site(_answer(b"hello", "Content-Length: 9")).url())
    with pytest.raises(DownloadFailed, match="before the file did"):
        _fetch(site(_answer(b"9\r\nhello", "Transfer-Encoding: chunked")).url())


@pytest.mark.parametrize(
    "answer",
    [
        _answer(b"x", "Content-Length: 1", "Content-Length: 2"),
        _answer(b"x", "Transfer-Encoding: gzip, chunked"),
        _answer(b"zz\r\nx", "Transfer-Encoding: chunked"),
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-Pad: y\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX-Pad: " + b"y" * 70_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + (b"X-Pad: " + b"y" * 8_000 + b"\r\n") * 90 + b"\r\n",
        b"",
    ],
)
def test_fetch_when_the_answer_is_no_http(site: MakeSite, answer: bytes) -> None:
    """Invalid HTTP and endless headers are failed downloads, not crashes."""
    with pytest.raises(DownloadFailed):
        _fetch(site(answer).url())


@pytest.mark.parametrize(
    "head", ["HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"]
)
def test_fetch_when_the_body_is_endless(site: MakeSite, head: str) -> None:
    """A body without a stated length is cut off at the limit."""

    def answer(sock: socket.socket, _: str) -> None:
        """Send until the connection closes."""
        sock.sendall(head.encode())
        part = b"x" * 1000 if "1.0" in head else b"3e8\r\n" + b"x" * 1000 + b"\r\n"
        while True:
            sock.sendall(part)

    target = io.BytesIO()
    with pytest.raises(TooLarge, match="larger"):
        Downloader(["127.0.0.1"]).fetch(site(answer).url(), target, 50_000, 5)
    assert len(target.getvalue()) <= 50_000


@pytest.mark.parametrize("size", [b"-5", b"-1", b"fffffffffffff"])
def test_fetch_when_a_chunk_size_lies(site: MakeSite, size: bytes) -> None:
    """Negative and huge chunk sizes never cause more to be read than the limit."""

    def answer(sock: socket.socket, _: str) -> None:
        """Send one endless chunk."""
        sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + size + b"\r\n")
        while True:
            sock.sendall(b"x" * 1000)

    with pytest.raises((TooLarge, DownloadFailed)):
        _fetch(site(answer).url(), max_bytes=20_000)


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nX-Slow: ",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
@pytest.mark.parametrize("call", ["check", "fetch"])
def test_download_when_the_server_is_slow(site: MakeSite, start: bytes, call: str) -> None:
    """A slow trickle of bytes does not extend the time limit, in headers or body."""

    def answer(sock: socket.socket, _: str) -> None:
        """Send a byte every twentieth of a second."""
        sock.sendall(start)
        while True:
            time.sleep(0.05)
            sock.sendall(b"1")

    url = site(answer).url()
    downloader = Downloader(["127.0.0.1"], check_seconds=0.3)
    calls = {
        "check": lambda: downloader.check(url, 1000),
        "fetch": lambda: downloader.fetch(url, io.BytesIO(), 1000, 0.3),
    }
    started = time.monotonic()

    with pytest.raises(DownloadFailed, match=r"longer than 0\.3 seconds"):
        calls[call]()

    assert time.monotonic() - started < 1


def test_fetch_when_the_body_is_a_gzip_bomb(site: MakeSite) -> None:
    """A compressed response is refused; a gzip file as such is stored unchanged."""
    bomb = gzip.compress(bytes(10_000_000))

    with pytest.raises(DownloadFailed, match="compressed"):
        _fetch(site(_answer(bomb, "Content-Encoding: gzip")).url(), max_bytes=100_000)
    assert _fetch(site(_answer(bomb)).url(), max_bytes=100_000) == bomb


def test_fetch_when_the_target_is_full(site: MakeSite) -> None:
    """An error of the local disk is not reported as an error of the server."""

    class Full(io.BytesIO):
        """A file that cannot be written."""

        def write(self, _: object) -> int:
            """Fail as a full disk does."""
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        Downloader(["127.0.0.1"]).fetch(site(_answer(b"x")).url(), Full(), 10, 5)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for files.example, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "files.example")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("files.example")]), False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "site.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


def test_fetch_when_the_site_has_a_certificate(site: MakeSite, certificate: Path) -> None:
    """TLS connects to the checked address and verifies the name in the URL."""
    names: list[str | None] = []
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    server.sni_callback = lambda _, name, __: names.append(name)
    made = site(_answer(b"hello"), server)
    client = ssl.create_default_context(cafile=str(certificate))
    resolver = _resolves_to("127.0.0.1")

    body = _fetch(made.url(host="files.example"), tls=client, resolver=resolver)

    assert body == b"hello"
    assert names == ["files.example"]
    with pytest.raises(DownloadFailed, match="certificate is not valid: Hostname mismatch"):
        _fetch(made.url(host="other.example"), tls=client, resolver=resolver)
    with pytest.raises(DownloadFailed, match="certificate is not valid: self-signed"):
        _fetch(made.url(host="files.example"), resolver=resolver)


def _drip(sock: socket.socket, _: str) -> None:
    """Send a file slowly, one byte every twentieth of a second."""
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while True:
        time.sleep(0.05)
        sock.sendall(b"1")


def test_fetch_when_the_server_drips(site: MakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server below the minimum rate is abandoned long before the time limit."""
    monkeypatch.setattr(pinned_http, "PACE_SECONDS", 1)
    started = time.monotonic()

    with pytest.raises(DownloadFailed) as caught:
        _fetch(site(_drip).url(), seconds=300)

    assert time.monotonic() - started < 4
    assert re.fullmatch(
        r"Its server sent \d+ bytes in 1 seconds; the minimum is 10,000\. "
        r"Host the file on a faster server, or send it with POST /v2/uploads\.",
        caught.value.detail,
    )


@pytest.mark.parametrize("answer", [_drip, lambda *_: time.sleep(1)], ids=["dripping", "silent"])
def test_fetch_when_the_check_raises(
    site: MakeSite, answer: Handler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While waiting for a server, the check is called every second and can stop the download."""
    assert pinned_http.CHECK_SECONDS == 1
    monkeypatch.setattr(pinned_http, "CHECK_SECONDS", 0.2)
    asked: list[float] = []

    def go_on() -> None:
        """Stop at the third call."""
        asked.append(time.monotonic())
        if len(asked) == 3:
            raise LeaseLost

    downloader, url = Downloader(["127.0.0.1"]), site(answer).url()
    with pytest.raises(LeaseLost):
        downloader.fetch(url, io.BytesIO(), 1000, 300, check=go_on)
    assert asked[-1] - asked[0] < 0.9


def test_pace_when_a_server_becomes_slow() -> None:
    """The minimum rate applies to any 30 seconds, not to the average."""
    pace = pinned_http.Pace()
    for _ in range(10):
        pace.note(1, 1_000_000)

    for _ in range(30):
        pace.note(1, 9_999)
    with pytest.raises(DownloadFailed, match=r"sent 299,970 bytes in 30 seconds"):
        pace.note(1, 9_999)


def test_pace_when_a_server_is_just_quick_enough() -> None:
    """A server above the minimum rate may send indefinitely, also in bursts."""
    pace = pinned_http.Pace()
    for _ in range(100):
        pace.note(0.9, 0)
        pace.note(3.9, 0)
        pace.note(0.1, 60_000)


def test_pace_when_this_machine_is_busy() -> None:
    """Time not spent waiting for the server does not count against its rate."""
    pace = pinned_http.Pace()
    for _ in range(1_000):
        pace.note(0.02, 1)
