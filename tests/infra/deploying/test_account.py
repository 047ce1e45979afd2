"""The resources of a stage and its URL."""

from __future__ import annotations

import pytest

from infra.deploying.account import Target

AWS = "https://a1b2c3.execute-api.eu-central-1.amazonaws.com/api/"


@pytest.mark.parametrize(
    ("endpoint", "url", "reachable"),
    [
        (None, AWS, AWS.rstrip("/")),
        ("http://127.0.0.1:4566/", AWS, "http://127.0.0.1:4566/restapis/a1b2c3/api/_user_request_"),
        ("http://127.0.0.1:4566", "http://127.0.0.1:9000/", "http://127.0.0.1:9000"),
        (None, "", ""),
    ],
)
def test_address_of_the_service(endpoint: str | None, url: str, reachable: str):
    """On AWS the URL is the stack's own; an emulated AWS answers at its endpoint."""
    assert Target("shop", "eu-central-1", endpoint).reachable(url) == reachable
