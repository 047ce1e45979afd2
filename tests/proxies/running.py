"""Starts Caddy and nginx with the shipped files, on free ports of this machine."""

from __future__ import annotations

import datetime
import getpass
import http.client
import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.flows.client import Answer, Client
from tests.parts import ROOT

HOST = "presage.example.org"
"""Host name in both files."""
CADDYFILE = ROOT / "deploy" / "caddy" / "Caddyfile"
NGINX_FILE = ROOT / "deploy" / "nginx" / "presage.conf"
UPSTREAM = "127.0.0.1:8000"
START_SECONDS = 60


class PinnedConnection(http.client.HTTPSConnection):
    """Connects to a port of this machine as if the host name pointed there."""

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        super().__init__(HOST, timeout=120, context=context)
        self._address = ("127.0.0.1", port)
        self._tls = context

    def connect(self) -> None:
        """Connect, and check the certificate for the host name."""
        self.sock = socket.create_connection(self._address, self.timeout)
        self.sock = self._tls.wrap_socket(self.sock, server_hostname=HOST)


class SecureClient(Client):
    """A caller behind a proxy, with a new connection per call."""

    def __init__(self, proxy: Proxy, token: str | None = None) -> None:
        super().__init__(f"https://{HOST}", token)
        self._proxy = proxy

    def vision(self) -> SecureClient:
        """Make the same caller for the calls below /vision."""
        made = SecureClient(self._proxy, self.token)
        made.base = "/v2/vision"
        return made

    def send(
        self, method: str, path: str, body=None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Make one call."""
        self._connection = self._proxy.connect()
        try:
            return super().send(method, path, body, headers)
        finally:
            self.close()

    def fetch(self, url: str) -> Answer:
        """Read a public URL without a token, as a browser does."""
        parts = urlsplit(url)
        assert (parts.scheme, parts.netloc) == ("https", HOST), url
        return SecureClient(self._proxy).send("GET", f"{parts.path}?{parts.query}")


class Proxy:
    """A program between callers and the stack."""

    def __init__(self, folder: Path, upstream: str) -> None:
        self.folder = folder
        self.port = free_port()
        self._upstream = upstream
        self._process: subprocess.Popen[bytes] | None = None

    def command(self) -> Sequence[str]:
        """Write the configuration and return the command that runs it."""
        raise NotImplementedError

    def trusted(self) -> Path:
        """Return the file of the certificate that signs the one of the host."""
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        """Return the variables of the program."""
        return dict(os.environ)

    def connect(self) -> PinnedConnection:
        """Make a connection that trusts the certificate of this proxy alone."""
        return PinnedConnection(self.port, ssl.create_default_context(cafile=self.trusted()))

    def __enter__(self) -> Proxy:
        """Start the program and wait until it answers."""
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                self.command(), env=self.environment(), stdout=log, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise RuntimeError((self.folder / "log").read_text("utf-8", "replace"))
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the program."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(START_SECONDS)

    def _is_ready(self) -> bool:
        if not self.trusted().exists():
            return False
        connection = self.connect()
        try:
            connection.connect()
        except OSError:  # TLS errors too: the certificate may be made after the port is open
            return False
        finally:
            connection.close()
        return True


class Caddy(Proxy):
    """Caddy with a certificate of its own authority."""

    def command(self) -> Sequence[str]:
        """Import the shipped file below options that need no rights and no network."""
        config = self.folder / "Caddyfile"
        config.write_text(
            "{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n"
            "\tauto_https disable_redirects\n"
            f"\thttps_port {self.port}\n\tservers {{\n\t\tprotocols h1 h2\n\t}}\n"
            f"\tstorage file_system {self.folder / 'storage'}\n}}\nimport {CADDYFILE}\n"
        )
        return (program("caddy"), "run", "--config", str(config), "--adapter", "caddyfile")

    def environment(self) -> dict[str, str]:
        """Add the stack's address."""
        return {**os.environ, "PRESAGE_UPSTREAM": self._upstream, "HOME": str(self.folder)}

    def trusted(self) -> Path:
        """Return the root of Caddy's authority."""
        return self.folder / "storage" / "pki" / "authorities" / "local" / "root.crt"


class Nginx(Proxy):
    """Nginx with a self-signed certificate."""

    def command(self) -> Sequence[str]:
        """Include the shipped file with other ports, folders and the address of the stack."""
        write_certificate(self.folder)
        text = NGINX_FILE.read_text("utf-8")
        for shipped, tested in (
            ("listen 80;", f"listen 127.0.0.1:{free_port()};"),
            ("listen 443 ssl;", f"listen 127.0.0.1:{self.port} ssl;"),
            ("/etc/ssl/presage", str(self.folder)),
            (UPSTREAM, self._upstream),
        ):
            assert shipped in text, shipped
            text = text.replace(shipped, tested)
        (self.folder / "presage.conf").write_text(text)
        # Workers of a master that is root would be another user, who cannot enter this folder.
        user = f"user {getpass.getuser()};\n" if os.getuid() == 0 else ""
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        folders = "".join(f"{kind}_temp_path {self.folder / kind};\n" for kind in kinds)
        (self.folder / "nginx.conf").write_text(
            f"{user}daemon off;\npid {self.folder / 'pid'};\nerror_log stderr;\nevents {{}}\n"
            f"http {{\naccess_log off;\n{folders}include {self.folder / 'presage.conf'};\n}}\n"
        )
        path = str(self.folder / "nginx.conf")
        return (program("nginx"), "-p", str(self.folder), "-e", "stderr", "-c", path)

    def trusted(self) -> Path:
        """Return the certificate itself."""
        return self.folder / "fullchain.pem"


def program(name: str) -> str:
    """Return the path of an installed program."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    assert found, f"{name} is not installed: apt-get install {name}"
    return found


def free_port() -> int:
    """Return a port that nothing uses at this moment."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def write_certificate(folder: Path) -> None:
    """Write a self-signed certificate of the host, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "fullchain.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "privkey.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
