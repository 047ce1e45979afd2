"""The public address of the local stack, and the reverse proxies in front of it.

Every URL that callers see comes from PRESAGE_PUBLIC_URL. The Host header of a request is only
compared with this URL, because a caller could write anything there.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from infra.local.http.listening import host_name, names_this_machine

PUBLIC_URL, TRUSTED_PROXIES = "PRESAGE_PUBLIC_URL", "PRESAGE_TRUSTED_PROXIES"
# Path below which the front passes presigned requests to the storage.
STORAGE_PATH = "/storage"
_PORTS = {"http": 80, "https": 443}

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class WrongAddress(ValueError):
    """A variable has no usable address; the error text names the variable and an example."""


@dataclass(frozen=True)
class PublicAddress:
    """How callers reach the front."""

    scheme: str
    """`http` or `https`."""
    host: str
    """Host name, with a port unless it is the usual one of the scheme."""
    proxies: tuple[Network, ...] = ()
    """Addresses of trusted proxies, whose `X-Forwarded-For` headers are read."""
    bound_host: str = ""
    """Address that the front is bound to; programs on this machine may call it too."""

    @property
    def url(self) -> str:
        """Return the address without a slash at its end."""
        return f"{self.scheme}://{self.host}"

    @property
    def host_name(self) -> str:
        """Return the host without a port."""
        return urlsplit(self.url).hostname or ""

    def has_host(self, host: str) -> bool:
        """Return whether a Host header names this service."""
        host = host.lower()
        usual = f":{_PORTS[self.scheme]}"
        if host.removesuffix(usual) == self.host:
            return True
        return names_this_machine(host) or host_name(host).strip("[]") == self.bound_host

    def caller(self, peer: str, headers: Sequence[tuple[str, str]]) -> str:
        """Return the caller's address, which is the last hop that is not a trusted proxy.

        The hops are the addresses in `X-Forwarded-For`, and then `peer`.

        Args:
            peer: address of the connection's other end.
            headers: headers as sent.
        """
        given = [value for name, value in headers if name.lower() == "x-forwarded-for"]
        hops = [hop.strip() for hop in ",".join(given).split(",")]
        # Each proxy appends the address that it saw, so only the end of the list can be trusted.
        while self._is_proxy(peer) and hops and _is_address(hops[-1]):
            peer = hops.pop()
        return peer

    def _is_proxy(self, address: str) -> bool:
        return any(ipaddress.ip_address(address) in network for network in self.proxies)


def read_public_address(environment: Mapping[str, str], bound_host: str) -> PublicAddress | None:
    """Read the public address from the environment; None if none is set.

    Args:
        environment: variables of the process.
        bound_host: address that the front is bound to.

    Raises:
        WrongAddress: the public URL or a trusted proxy cannot be read.
    """
    proxies = tuple(_networks(environment.get(TRUSTED_PROXIES, "")))
    text = environment.get(PUBLIC_URL, "").removesuffix("/")
    if not text:
        if proxies:
            raise WrongAddress(f"{TRUSTED_PROXIES} needs {PUBLIC_URL}, the address of the proxy.")
        return None
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise _wrong_url(text) from error
    is_plain = text.isascii() and not text.endswith(":") and text.isprintable() and " " not in text
    name = parts.netloc.rpartition(":")[0] if port is not None else parts.netloc
    if parts.scheme not in _PORTS or not name or not is_plain or "@" in parts.netloc:
        raise _wrong_url(text)
    if parts.path or parts.query or parts.fragment:
        raise _wrong_url(text)
    host = parts.netloc.lower().removesuffix(f":{_PORTS[parts.scheme]}")
    return PublicAddress(parts.scheme, host, proxies, bound_host)


def _wrong_url(text: str) -> WrongAddress:
    return WrongAddress(
        f"{PUBLIC_URL} must be scheme and host, such as https://presage.example.org, not {text!r}."
    )


def _networks(text: str) -> list[Network]:
    """Read addresses and networks that are separated by commas."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    try:
        return [ipaddress.ip_network(part) for part in parts]
    except ValueError as error:
        raise WrongAddress(
            f"{TRUSTED_PROXIES} must be addresses or networks such as 10.0.0.0/8, separated by "
            f"commas: {error}."
        ) from error


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
