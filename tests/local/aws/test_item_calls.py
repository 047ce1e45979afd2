"""The fast item serializer gives the same answers as moto's."""

from __future__ import annotations

import json
from typing import Any

import pytest
from moto.dynamodb.responses import DynamoResult

from infra.local.aws import item_calls

ITEM = {
    "id": {"S": "é"},
    "bytes": {"B": b"\x00\xff"},
    "number": {"N": "1.50"},
    "nothing": {"NULL": True},
    "no": {"BOOL": False},
    "empty": {"S": ""},
    "texts": {"SS": ["p", "q"]},
    "many_bytes": {"BS": [b"1", b"2"]},
    "list": {"L": [{"S": "1"}, {"B": b"z"}]},
    "map": {"M": {"k": {"N": "1"}}},
}
KEY = {"id": ITEM["id"]}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("put_item", {"Item": ITEM, "ReturnValues": "ALL_OLD"}),
    ("get_item", {"Key": KEY, "ReturnConsumedCapacity": "TOTAL"}),
    ("get_item", {"Key": {"id": {"S": "unknown"}}}),
    (
        "query",
        {"KeyConditionExpression": "id = :i", "ExpressionAttributeValues": {":i": ITEM["id"]}},
    ),
    (
        "query",
        {"KeyConditionExpression": "id = :i", "ExpressionAttributeValues": {":i": {"S": "x"}}},
    ),
    ("scan", {}),
    (
        "update_item",
        {
            "Key": KEY,
            "UpdateExpression": "SET added = :b",
            "ExpressionAttributeValues": {":b": {"B": b"q"}},
            "ReturnValues": "ALL_NEW",
        },
    ),
    ("delete_item", {"Key": KEY, "ReturnValues": "ALL_OLD"}),
]


@pytest.fixture
def compared(monkeypatch):
    """Answer with the quick writer and note where it differs from the general one."""
    differences: list[tuple[str, Any, Any]] = []
    general = DynamoResult.execute_result

    def execute(result: DynamoResult, context: Any) -> Any:
        expected, found = general(result, context), item_calls.execute(result, context)
        pair = [
            (status, dict(headers), json.loads(body)) for status, headers, body in (expected, found)
        ]
        if pair[0] != pair[1]:
            differences.append((context.operation_model.name, *pair))
        return found

    monkeypatch.setattr(DynamoResult, "execute_result", execute)
    return differences


def test_quick_answers_are_the_general_ones(clients, compared):
    """All attribute types, with and without results, are serialized as by moto."""
    dynamodb = clients.dynamodb
    dynamodb.create_table(
        TableName="things",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )

    for operation, arguments in CALLS:
        getattr(dynamodb, operation)(TableName="things", **arguments)
    dynamodb.batch_get_item(RequestItems={"things": {"Keys": [KEY]}})

    assert compared == []


def test_every_request_has_an_id_of_its_own(clients):
    """Two calls have different ids in logs, as on AWS."""
    names = [clients.dynamodb.list_tables()["ResponseMetadata"]["RequestId"] for _ in range(2)]

    assert len(set(names)) == 2
    assert {len(name) for name in names} == {52}
