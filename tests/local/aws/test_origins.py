"""Hosts and pages that may use the emulated AWS."""

from __future__ import annotations

import pytest

from infra.local.aws.origins import Origins

OWN = ("http://127.0.0.1:8000", "http://localhost:8000")
PUBLIC = "https://files.example.test:8443/storage"


@pytest.mark.parametrize(
    ("host", "is_allowed"),
    [
        ("127.0.0.1", True),
        ("127.0.0.1:4566", True),
        ("LOCALHOST:1", True),
        ("[::1]:4566", True),
        ("presage-data.localhost:4566", True),
        ("files.example.test", True),
        ("files.example.test:8443", True),
        ("example.test", False),
        ("127.0.0.1.attacker.example", False),
        ("attacker.example:4566", False),
        ("localhost.attacker.example", False),
        ("attacker.example:80:4566", False),
        ("attackerlocalhost", False),
        ("", False),
    ],
)
def test_only_own_names_are_hosts(host: str, is_allowed: bool) -> None:
    """The machine's names and the host of PRESAGE_PUBLIC_STORAGE_URL are accepted, at any port."""
    assert Origins(OWN, (), PUBLIC).has_host({"HTTP_HOST": host}) == is_allowed
    assert not Origins(OWN, (), None).has_host({"HTTP_HOST": "files.example.test"})
    assert not Origins(OWN, (), None).has_host({})


@pytest.mark.parametrize(
    ("origin", "is_allowed"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://localhost:8000", True),
        ("https://shop.example", True),
        ("https://127.0.0.1:8000", False),
        ("http://127.0.0.1:8001", False),
        ("http://127.0.0.1", False),
        ("https://shop.example.attacker.example", False),
        ("null", False),
    ],
)
def test_only_named_origins_read(origin: str, is_allowed: bool) -> None:
    """The service's own pages and those of PRESAGE_ALLOW_ORIGINS, by scheme, host and port."""
    some, every = Origins(OWN, ("https://shop.example",), None), Origins(OWN, ("*",), None)
    shown = dict(some.headers({"HTTP_ORIGIN": origin}))

    assert some.allows(origin) == is_allowed
    assert ("Access-Control-Allow-Origin" in shown) == is_allowed
    assert "Access-Control-Allow-Credentials" not in shown
    assert every.allows(origin)
