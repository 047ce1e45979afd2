"""AWS clients: where their calls go."""

from __future__ import annotations

import io
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse

from chalicelib.config import Settings
from chalicelib.stores.aws.clients import Clients
from tests.quick_aws import make_requests


class _Answer(io.BytesIO):
    """What botocore reads an answer from."""

    def stream(self, **_: Any) -> Any:
        yield self.read()


def sent(client: Any) -> tuple[str, str, str]:
    """Return where a read of a row would go, and for whom it would be signed."""
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
    """Without going through those rules at each call, in every part of AWS, signed alike."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    clients = Clients(Settings(name="n", bucket="b", region=region))
    by_the_rules = sent(clients._client("dynamodb"))

    assert sent(clients.dynamodb) == by_the_rules
    assert sent(clients.dynamodb_once) == by_the_rules
    assert region in by_the_rules[1]
