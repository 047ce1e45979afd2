"""URLs that callers give, checked and taken apart before anything is resolved."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.message import Message
from urllib.parse import quote, unquote, urljoin, urlsplit

from chalicelib.errors import DownloadFailed

_MAX_URL_CHARACTERS = 4096
_MAX_NAME_CHARACTERS = 180
# Parsers disagree about these, and a disagreement is how a check is passed by.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\]")
_HOST = re.compile(r"[a-z0-9._:-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Location:
    """An http or https URL without credentials."""

    scheme: str
    """`http` or `https`."""
    host: str
    """Lower case ASCII, no dot at the end; an IPv6 address without brackets."""
    port: int
    """Explicit or that of the scheme."""
    target: str
    """Path and query, percent-encoded, as sent in the request line."""
    url: str
    """The URL as it was given, to resolve redirects against."""

    @property
    def host_header(self) -> str:
        """Value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        is_usual = self.port == (443 if self.scheme == "https" else 80)
        return host if is_usual else f"{host}:{self.port}"

    @property
    def file_name(self) -> str:
        """Last part of the path, decoded; empty when the path ends in a slash."""
        return clean_file_name(unquote(self.target.partition("?")[0]))

    def join(self, reference: str) -> Location:
        """Follow a redirect.

        Args:
            reference: value of its Location header.

        Returns:
            The location it leads to.

        Raises:
            DownloadFailed: the redirect leads to what is no acceptable URL.
        """
        # http.client reads headers as Latin-1; servers send UTF-8.
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
    """Take a URL apart.

    Args:
        url: as the caller gave it.

    Returns:
        Its parts; nothing is resolved yet.

    Raises:
        DownloadFailed: it is no http or https URL, is too long, has credentials or odd characters.
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
    """Return a host as the resolver takes it; an international name in its ASCII form."""
    name = host if host.isascii() else host.encode("idna").decode("ascii")
    return name.lower().rstrip(".")


def clean_file_name(name: str) -> str:
    """Keep the last part of a path, without control characters, at most 180 characters.

    Args:
        name: from a path or header; either kind of slash.

    Returns:
        The bare name; empty when nothing is left.
    """
    last = re.split(r"[/\\]", name)[-1]
    last = _CONTROL.sub("", last).strip()[-_MAX_NAME_CHARACTERS:]
    return "" if last in {".", ".."} else last


def read_attachment_name(disposition: str | None) -> str:
    """Read the file name of a Content-Disposition header.

    Args:
        disposition: value of the header, in any of its spellings.

    Returns:
        The bare name; empty when there is none.
    """
    if not disposition:
        return ""
    message = Message()
    message["Content-Disposition"] = _CONTROL.sub("", disposition)
    try:
        return clean_file_name(message.get_filename() or "")
    except (ValueError, LookupError):
        return ""  # A charset that does not exist, or a broken encoding.
