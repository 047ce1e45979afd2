"""The addresses that downloads may reach."""

from __future__ import annotations

import ipaddress

import pytest

from chalicelib.stores.fetching.urls import AllowList, is_public


@pytest.mark.parametrize("text", ["8.8.8.8", "1.1.1.1", "93.184.216.34", "2606:4700::1", "2a00::1"])
def test_is_public_when_it_is(text: str) -> None:
    """Ordinary internet addresses are public."""
    assert is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize(
    "text",
    [
        "0.0.0.0",  # noqa: S104
        "0.1.2.3",
        "10.1.2.3",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "169.254.170.2",
        "168.63.129.16",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "::ffff:0:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::a9fe:a9fe",
        "100::1",
        "2001::1",
        "2001:0:a9fe:a9fe::1",
        "2001:20::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "2606:4700::1%eth0",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
    ],
)
def test_is_public_when_it_is_not(text: str) -> None:
    """Private, shared, reserved, multicast and embedded private addresses are not public."""
    assert not is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize(
    ("item", "host", "address", "port", "is_open"),
    [
        ("127.0.0.1", "localhost", "127.0.0.1", 80, True),
        ("127.0.0.1", "127.0.0.1", "127.0.0.1", 9000, True),
        ("127.0.0.1", "127.0.0.2", "127.0.0.2", 80, False),
        ("127.0.0.1:9000", "x", "127.0.0.1", 9000, True),
        ("127.0.0.1:9000", "x", "127.0.0.1", 9001, False),
        ("10.0.0.0/8", "x", "10.200.0.1", 80, True),
        ("10.0.0.0/8:80", "x", "10.200.0.1", 80, True),
        ("10.0.0.0/8", "x", "11.0.0.1", 8080, True),
        ("10.0.0.0/8", "x", "192.168.0.1", 80, False),
        ("[::1]:9000", "x", "::1", 9000, True),
        ("[::1]:9000", "x", "::1", 80, False),
        ("::1", "x", "::1", 80, True),
        ("::1", "x", "127.0.0.1", 80, False),
        ("fd00::/8", "x", "fd00::5", 80, True),
        ("minio", "minio", "172.17.0.2", 9000, True),
        ("Minio.:9000", "minio", "172.17.0.2", 9000, True),
        ("minio:9000", "minio", "172.17.0.2", 80, False),
        ("minio", "other", "172.17.0.2", 80, False),
        ("", "x", "127.0.0.1", 80, False),
    ],
)
def test_allow_list_when_items_differ(
    item: str, host: str, address: str, port: int, is_open: bool
) -> None:
    """An entry allows exactly its address, range, name and port."""
    allowed = AllowList([item])

    assert is_open is allowed.permits(host, ipaddress.ip_address(address), port)


@pytest.mark.parametrize(
    "item", ["10.0.0.1/8", "300.1.1.1", "a:b", "minio:0", "minio:70000", "a/b"]
)
def test_allow_list_when_an_item_is_wrong(item: str) -> None:
    """An entry that would never match is an error at start."""
    with pytest.raises(ValueError, match="not an address, range or host name"):
        AllowList([item])
