"""Which network addresses a download may connect to."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# The IANA registries of special addresses. ipaddress.is_global is no help: it is true for
# multicast, NAT64, 6to4 and parts of 192.0.0.0/24, which all lead to private hosts.
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
        # Public by the registry, but the metadata and health service of one large cloud.
        "168.63.129.16/32",
    )
)
# Only this part of IPv6 is given to networks; mapped, NAT64, local and multicast lie outside.
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
    """Tell whether an address belongs to a host on the public internet.

    Args:
        address: a resolved address, never a spelling of one.

    Returns:
        False for everything private, local, shared, reserved, multicast, or that wraps an IPv4
        address in an IPv6 one.
    """
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _SPECIAL_V4)
    if address.scope_id is not None or address not in _GLOBAL_V6:
        return False
    return not any(address in network for network in _SPECIAL_V6)


@dataclass(frozen=True, slots=True)
class _Rule:
    """One item of the allow-list: a network or a host name, perhaps with a port."""

    network: Network | None
    host: str
    port: int | None

    def opens(self, host: str, address: Address, port: int) -> bool:
        """Tell whether this rule lets a connection through."""
        if self.port is not None and self.port != port:
            return False
        if self.network is None:
            return self.host == host
        return address.version == self.network.version and address in self.network


class AllowList:
    """Addresses that are opened although they are not public, for local work and tests.

    Items: `127.0.0.1`, `127.0.0.1:9000`, `[::1]:9000`, `10.0.0.0/8`, `minio`, `minio:9000`. An
    address or range opens what a name resolves to; a host name opens the URLs that name it.
    """

    def __init__(self, items: Sequence[str]) -> None:
        """Read the items.

        Raises:
            ValueError: an item is neither address, range nor host name.
        """
        self._rules = tuple(_read_rule(item.strip()) for item in items if item.strip())

    def permits(self, host: str, address: Address, port: int) -> bool:
        """Tell whether a connection is allowed.

        Args:
            host: host of the URL, lower case, no dot at its end.
            address: what the host resolved to.
            port: port of the URL.

        Returns:
            True for public addresses and for what a rule opens.
        """
        return is_public(address) or any(rule.opens(host, address, port) for rule in self._rules)


def _read_rule(item: str) -> _Rule:
    """Read one item of the allow-list."""
    try:
        return _Rule(ipaddress.ip_network(item.strip("[]")), "", None)
    except ValueError:
        host, colon, port_text = item.rpartition(":")
    if not colon:
        host, port = item, None
    elif port_text.isascii() and port_text.isdigit() and 0 < int(port_text) < 65536:
        port = int(port_text)
    else:
        raise ValueError(f"{item!r} is no address, range or host name with an optional port")
    bare = host.strip("[]")
    try:
        return _Rule(ipaddress.ip_network(bare), "", port)
    except ValueError:
        pass
    # What looks like an address or range but is none would silently open nothing.
    if not bare.replace("-", "").replace(".", "").replace("_", "").isalnum() or (
        bare.replace(".", "").isdigit()
    ):
        raise ValueError(f"{item!r} is no address, range or host name with an optional port")
    return _Rule(None, bare.lower().rstrip("."), port)
