"""The endpoints of AWS clients."""

from __future__ import annotations

import io
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse

from chalicelib.config import Settings
from chalicelib.stores.aws.clients import Clients
from tests.quick_aws import make_requests


class _Answer(io.BytesIO):
    """The parts of a response that botocore reads."""

    def stream(self, **_: Any) -> Any:
        yield self.read()


def sent(client: Any) -> tuple[str, str, str]:
    """Return the URL of a row read, and the region for which it is signed."""
    found: list[Any] = []

    def answer(request: Any, **_: Any) -> AWSResponse:
        found.append(request)
        return AWSResponse(request.url, 200, {}, _Answer(b"{}"))

    make_requests(client)
    client.meta.events.register("before-send.dynamodb.GetItem", answer)
    client.get_item(TableName="rows", Key={"id": {"S": "1"}})
    [request] = found
    scope = request.headers["Authorization"].decode().split("Credential=")[1].split(",")[0]
    return request.method, request.url, scope


@pytest.mark.parametrize("region", ["us-east-1", "eu-central-1", "cn-north-1", "us-gov-west-1"])
def test_rows_are_read_where_the_rules_of_addresses_say(
    region: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every partition, cached endpoints equal those that botocore resolves, signed alike."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    clients = Clients(Settings(name="n", bucket="b", region=region))
    by_the_rules = sent(clients._client("dynamodb"))

    assert sent(clients.dynamodb) == by_the_rules
    assert sent(clients.dynamodb_once) == by_the_rules
    assert region in by_the_rules[1]
