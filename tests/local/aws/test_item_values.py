"""Fast copies, conversions and checks of items give the results of moto's own code."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from botocore.parsers import JSONParser as AnswerParser
from moto.core.parse import JSONParser
from moto.core.utils import get_service_model
from moto.dynamodb.exceptions import ItemSizeTooLarge
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.utilities import dynamo_to_dict

from infra.local.aws import item_values
from tests.quick_aws import ItemParser

VALUES: dict[str, dict[str, Any]] = {
    "text": {"S": "é"},
    "number": {"N": "1.50"},
    "bytes": {"B": "AP8="},
    "raw": {"B": b"\x00\xff"},
    "nothing": {"NULL": True},
    "no": {"BOOL": False},
    "texts": {"SS": ["p", "q"]},
    "many_bytes": {"BS": ["MQ==", b"2"]},
    "list": {"L": [{"S": "1"}, {"L": [{"N": "2"}]}, {"M": {}}]},
    "map": {"M": {"k": {"N": "1"}, "deep": {"M": {"l": {"L": [{"S": "x"}]}}}}},
}
SIZES = {
    "text": 2,
    "number": 4,
    "bytes": 4,
    "raw": 2,
    "nothing": 1,
    "no": 1,
    "texts": 2,
    "many_bytes": 5,
    "list": 2,
    "map": 8,
}
"""What `DynamoType.size` of moto returned for each value before it was replaced."""
ON_THE_WIRE = {name: value for name, value in VALUES.items() if name not in ("raw", "many_bytes")}
KEY = DynamoType({"S": "k"})


def make(attributes: dict[str, Any]) -> Any:
    """Make an item by the fast code."""
    item: Any = object.__new__(Item)
    item_values._make_item(item, KEY, None, attributes)
    return item


def test_results_are_converted_equally():
    """Items, values and lists of both become the JSON values that moto makes of them."""
    item = make(VALUES)
    for found in (item.attrs, {"Items": [item.attrs], "Count": 1, "Last": None}, item.to_json()):
        assert item_values.plain(found) == dynamo_to_dict(found)


@pytest.mark.parametrize("name", VALUES)
def test_copies_are_equal_and_independent(name):
    """A copied value equals the value, and shares no list or map with it."""
    value = DynamoType(VALUES[name])
    found = item_values.copy_value(value, {})
    before = dynamo_to_dict(value)

    assert type(found) is DynamoType
    assert dynamo_to_dict(found) == before
    for part in parts_of(found):
        part.clear()
    assert dynamo_to_dict(value) == before


def test_copied_items_are_equal_and_independent():
    """A copied item has the same keys and attributes; a change of one leaves the other."""
    item = make(VALUES)
    found = item_values.copy_item(item, {})

    assert type(found.attrs) is LimitedSizeDict
    assert (found.hash_key, found.range_key) == (KEY, None)
    assert dynamo_to_dict(found.attrs) == dynamo_to_dict(item.attrs)
    found.attrs["list"].value.clear()
    assert len(item.attrs["list"].value) == 3


@pytest.mark.parametrize("name", VALUES)
def test_sizes_are_those_of_moto(name):
    """A value has the size that unchanged moto counts."""
    assert item_values.measure(DynamoType(VALUES[name])) == SIZES[name]


def parts_of(value: Any) -> list[Any]:
    """Return the lists and maps in a value, the inner ones first."""
    content = value.value
    if not isinstance(content, list | dict):
        return []
    inner = content.values() if isinstance(content, dict) else content
    found = [part for one in inner if isinstance(one, DynamoType) for part in parts_of(one)]
    return [*found, content]


@pytest.mark.parametrize("length", [404_996, 404_997])
def test_items_have_the_same_limit(length):
    """An item is refused from the same size, whichever of its attributes is the last."""
    for attributes in (
        {"a": {"S": "x" * length}, "bc": {"N": "1"}},
        {"bc": {"N": "1"}, "a": {"S": "x" * length}},
    ):
        expected = outcome(lambda given=attributes: filled(given))
        assert outcome(lambda given=attributes: make(given).attrs) == expected
        assert (expected is ItemSizeTooLarge) == (length > 404_996)


def filled(attributes: dict[str, Any]) -> LimitedSizeDict:
    """Make attributes one after the other, as moto does."""
    made = LimitedSizeDict()
    for name, value in attributes.items():
        made[name] = DynamoType(value)
    return made


def outcome(work: Any) -> Any:
    """Return the result, or the class of the error."""
    try:
        return dynamo_to_dict(work())
    except ItemSizeTooLarge as error:
        return type(error)


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("PutItem", {"TableName": "t", "Item": ON_THE_WIRE, "Unknown": 1}),
        ("GetItem", {"TableName": "t", "Key": {"k": {"S": "1"}}, "ConsistentRead": True}),
        (
            "BatchWriteItem",
            {"RequestItems": {"t": [{"PutRequest": {"Item": ON_THE_WIRE}}]}},
        ),
        ("PutItem", {"TableName": "t", "Item": {"a": {"S": None}, "b": {}, "c": {"X": "1"}}}),
    ],
)
def test_requests_are_parsed_equally(operation, request_):
    """Parameters are those of moto's parser, in the same order."""
    model = get_service_model("dynamodb").operation_model(operation)
    body: Any = {"body": json.dumps(request_).encode()}

    found, expected = (
        kind(model, map_type=dict).parse(deepcopy(body))
        for kind in (item_values.ItemParser, JSONParser)
    )

    assert json.dumps(found, default=repr) == json.dumps(expected, default=repr)


@pytest.mark.parametrize("items", [[], [ON_THE_WIRE], [{"a": {"S": None}, "b": {}}, ON_THE_WIRE]])
def test_answers_of_tests_are_parsed_equally(items):
    """Answers that tests read without a request are those of botocore's parser."""
    shape = get_service_model("dynamodb").operation_model("Query").output_shape
    body = json.dumps({"Items": items, "Count": len(items)}).encode()
    response = {"status_code": 200, "headers": {}, "body": body}

    found, expected = (kind().parse(response, shape) for kind in (ItemParser, AnswerParser))

    assert json.dumps(found, default=repr) == json.dumps(expected, default=repr)
