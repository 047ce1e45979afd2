"""Parses callers' URLs, and decides which addresses may be reached. Resolves no host names."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import Message
from urllib.parse import quote, unquote, urljoin, urlsplit

from chalicelib.errors import DownloadFailed

_MAX_URL_CHARACTERS = 4096
_MAX_NAME_CHARACTERS = 180
# Parsers treat these characters differently, which is a way to get around checks.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\]")
_HOST = re.compile(r"[a-z0-9._:-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Location:
    """A parsed http or https URL without credentials."""

    scheme: str
    """`http` or `https`."""
    host: str
    """Host in lower case ASCII without a final dot; IPv6 addresses without brackets."""
    port: int
    """Port in the URL, otherwise the default port of the scheme."""
    target: str
    """Path and query as sent in the request line, percent-encoded."""
    url: str
    """The URL as given. Relative redirects are resolved against this URL."""

    @property
    def host_header(self) -> str:
        """Return the value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        is_usual = self.port == (443 if self.scheme == "https" else 80)
        return host if is_usual else f"{host}:{self.port}"

    @property
    def file_name(self) -> str:
        """Return the last part of the path, decoded; "" if the path ends with a slash."""
        return clean_file_name(unquote(self.target.partition("?")[0]))

    def join(self, reference: str) -> Location:
        """Return the location to which a redirect leads.

        Raises:
            DownloadFailed: the redirect leads to a URL that is not allowed.
        """
        # http.client decodes headers as Latin-1, but servers send UTF-8.
        try:
            text = reference.strip().encode("latin-1").decode()
        except UnicodeError:
            text = reference.strip()
        try:
            joined = urljoin(self.url, text)
        except ValueError as error:
            raise DownloadFailed("It redirects to an invalid URL.") from error
        return read_location(joined)


def read_location(url: str) -> Location:
    """Parse a caller's URL.

    Raises:
        DownloadFailed: the URL is not http or https, is too long, has credentials or has control
            characters.
    """
    text = url.strip(" ")
    if len(text) > _MAX_URL_CHARACTERS:
        raise DownloadFailed(f"The URL has {len(text):,} characters, the limit is 4,096.")
    if _UNSAFE.search(text):
        raise DownloadFailed("The URL holds control characters or backslashes; encode them.")
    try:
        parts = urlsplit(text)
        port = parts.port
        host = _read_host(parts.hostname or "")
        target = quote(parts.path or "/", safe="/%:=&~+!$,;'()*@[]")
        query = quote(parts.query, safe="/%:=&~+!$,;'()*@[]?")
    except ValueError as error:
        raise DownloadFailed("The URL is not valid.") from error
    if parts.scheme not in {"http", "https"}:
        raise DownloadFailed("Use an http or https URL.")
    if "@" in parts.netloc:
        raise DownloadFailed("The URL must not hold credentials; use a presigned URL instead.")
    if not _HOST.fullmatch(host) or port == 0:
        raise DownloadFailed("The URL has no valid host.")
    usual_port = 443 if parts.scheme == "https" else 80
    full_target = f"{target}?{query}" if query else target
    return Location(parts.scheme, host, port or usual_port, full_target, text)


def _read_host(host: str) -> str:
    """Return a host name for the resolver. International names are converted to ASCII."""
    name = host if host.isascii() else host.encode("idna").decode("ascii")
    return name.lower().rstrip(".")


def clean_file_name(name: str) -> str:
    """Return the last part of a path without control characters, at most 180 characters long.

    Args:
        name: path or header value, with slashes or backslashes.

    Returns:
        The file name; may be empty.
    """
    last = re.split(r"[/\\]", name)[-1]
    last = _CONTROL.sub("", last).strip()[-_MAX_NAME_CHARACTERS:]
    return "" if last in {".", ".."} else last


def read_attachment_name(disposition: str | None) -> str:
    """Return the file name in a Content-Disposition header; "" if there is none."""
    if not disposition:
        return ""
    message = Message()
    message["Content-Disposition"] = _CONTROL.sub("", disposition)
    try:
        return clean_file_name(message.get_filename() or "")
    except (ValueError, LookupError):
        # An unknown charset or a broken encoding.
        return ""


# Which network addresses a download may connect to.

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# The IANA registries of special addresses. ipaddress.is_global is not enough: it is true for
# multicast, NAT64, 6to4 and parts of 192.0.0.0/24, which all may lead to private hosts.
_SPECIAL_V4 = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
        # Public in the registry, but the metadata and health service of a large cloud.
        "168.63.129.16/32",
    )
)
# Only this part of IPv6 is assigned to networks, without mapped, NAT64, local and multicast.
_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
_SPECIAL_V6 = tuple(
    ipaddress.IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments, Teredo and ORCHID among them
        "2001:db8::/32",
        "2002::/16",  # 6to4: an IPv4 address in disguise
        "2620:4f:8000::/48",
        "3fff::/20",
    )
)


def is_public(address: Address) -> bool:
    """Return whether an address is public on the internet.

    Returns:
        False for private, local, shared, reserved and multicast addresses, and for IPv6 addresses
            that contain an IPv4 address.
    """
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _SPECIAL_V4)
    if address.scope_id is not None or address not in _GLOBAL_V6:
        return False
    return not any(address in network for network in _SPECIAL_V6)


@dataclass(frozen=True, slots=True)
class _Rule:
    """One entry of the allow-list: a network or a host name, with or without a port."""

    network: Network | None
    host: str
    port: int | None

    def opens(self, host: str, address: Address, port: int) -> bool:
        if self.port is not None and self.port != port:
            return False
        if self.network is None:
            return self.host == host
        return address.version == self.network.version and address in self.network


class AllowList:
    """Addresses that may be reached although they are not public, for local use and tests.

    Entries: `127.0.0.1`, `127.0.0.1:9000`, `[::1]:9000`, `10.0.0.0/8`, `minio`, `minio:9000`. An
    address or range allows all hosts that resolve to it. A host name allows URLs with this host.
    """

    def __init__(self, items: Sequence[str]) -> None:
        """Parse the entries.

        Raises:
            ValueError: an entry is not an address, a range or a host name.
        """
        self._rules = tuple(_read_rule(item.strip()) for item in items if item.strip())

    def permits(self, host: str, address: Address, port: int) -> bool:
        """Return whether an address is public, or is allowed by this list.

        `host` is the host of the URL in lower case, without a final dot. It resolves to `address`.
        """
        return is_public(address) or any(rule.opens(host, address, port) for rule in self._rules)


def _read_rule(item: str) -> _Rule:
    try:
        return _Rule(ipaddress.ip_network(item.strip("[]")), "", None)
    except ValueError:
        host, colon, port_text = item.rpartition(":")
    if not colon:
        host, port = item, None
    elif port_text.isascii() and port_text.isdigit() and 0 < int(port_text) < 65536:
        port = int(port_text)
    else:
        raise ValueError(f"{item!r} is not an address, range or host name with an optional port")
    bare = host.strip("[]")
    try:
        return _Rule(ipaddress.ip_network(bare), "", port)
    except ValueError:
        pass
    # An item that only looks like an address or range would silently allow nothing.
    if not bare.replace("-", "").replace(".", "").replace("_", "").isalnum() or (
        bare.replace(".", "").isdigit()
    ):
        raise ValueError(f"{item!r} is not an address, range or host name with an optional port")
    return _Rule(None, bare.lower().rstrip("."), port)
