"""Expressions that are read quickly give the results and errors of moto's own reading."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from infra.local.aws import expressions

ITEM = {
    "id": {"S": "a"},
    "count": {"N": "1"},
    "words": {"SS": ["p", "q"]},
    "list": {"L": [{"S": "1"}, {"S": "2"}, {"S": "3"}]},
    "map": {"M": {"k": {"N": "1"}, "m": {"M": {}}}},
}
NAMES = {"#i": "id", "#c": "count", "#w": "words", "#l": "list", "#m": "map", "#n": "new"}
VALUES = {":1": {"N": "1"}, ":s": {"S": "s"}, ":w": {"SS": ["q"]}, ":l": {"L": [{"N": "7"}]}}
UPDATES = (
    "SET #c = #c + :1, #n = :s REMOVE #w",
    "SET #n = if_not_exists(#n, :1) - :1",
    "SET #l = list_append(#l, :l), #m.k = :s",
    "SET #m.m.deep = :1 REMOVE #l[0], #l[2]",
    "ADD #c :1 DELETE #w :w",
    "ADD #n :1",
    "SET #c = :1, #c = :s",
    "SET #m = :s, #m.k = :1",
    "SET #c = :1 SET #n = :1",
    "SET #i = :s",
    "SET #c = #n",
    "SET #c = #c + :s",
    "SET #c = :unknown",
    "SET #unknown = :1",
    "SET #n.k = :1",
    "SET size = :1",
    "SET #c == :1",
)
CONDITIONS = (
    "#c = :1",
    "(attribute_exists (#c) AND (NOT #c > :1))",
    "attribute_not_exists(#n) OR contains(#w, :s)",
    "#c IN (:1, :s) AND size(#l) BETWEEN :1 AND :1",
    "begins_with(#i, :s)",
    "#m.k <> :1",
    "#n = :unknown",
    "#unknown = :1",
    "#c = :1 AND",
    "((#c = :1))",
)


@pytest.fixture
def table(clients) -> Any:
    """The client of a table that has one item."""
    clients.dynamodb.create_table(
        TableName="things",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return clients.dynamodb


@pytest.fixture
def generally(monkeypatch) -> Callable[[], None]:
    """Makes moto read expressions as it does without the service's patches."""

    def undo() -> None:
        parser = expressions._conditions
        monkeypatch.setattr(parser, "parse", expressions._parse)
        monkeypatch.setattr(parser, "_make_op_condition", expressions._make_condition)
        monkeypatch.setattr(parser, "_make_operand", expressions._make_operand)
        monkeypatch.setattr(
            expressions._walker, "traverse_node_recursively", expressions._walk_tree
        )
        monkeypatch.delattr(expressions._validators.UpdateExpressionValidator, "validate")
        monkeypatch.delattr(expressions._nodes.Node, "__deepcopy__")

    return undo


def outcome(table: Any, values: dict[str, Any], **asked: str) -> Any:
    """Update the item and return the answer or the error, and the item as it is then."""
    table.put_item(TableName="things", Item=ITEM)
    text = " ".join(asked.values())
    used = {name: value for name, value in NAMES.items() if name in text}
    given = {name: value for name, value in values.items() if name in text}
    more = {"ExpressionAttributeNames": used} if used else {}
    more |= {"ExpressionAttributeValues": given} if given else {}
    try:
        answer = table.update_item(
            TableName="things", Key={"id": {"S": "a"}}, ReturnValues="UPDATED_NEW", **asked, **more
        )
        found = answer.get("Attributes")
    except ClientError as error:
        found = error.response["Error"]
    except (AttributeError, KeyError, TypeError, ValueError) as error:  # moto fails, unlike AWS
        found = type(error), str(error)
    return found, table.get_item(TableName="things", Key={"id": {"S": "a"}})["Item"]


@pytest.mark.parametrize("condition", [None, *CONDITIONS])
@pytest.mark.parametrize("update", UPDATES)
def test_expressions_give_what_moto_alone_gives(
    table: Any, generally: Callable[[], None], update: str, condition: str | None
) -> None:
    """Answer, error and item are the same at the first use, and at the next with other values."""
    asked = {"UpdateExpression": update}
    if condition is not None:
        asked["ConditionExpression"] = condition
    others = {":1": {"N": "2"}, ":s": {"S": "a"}, ":w": {"SS": ["p"]}, ":l": {"L": []}}
    found = [outcome(table, values, **asked) for values in (VALUES, VALUES, others, VALUES)]

    generally()

    expected = [outcome(table, values, **asked) for values in (VALUES, VALUES, others, VALUES)]
    assert found == expected


def test_a_parsed_update_is_not_changed_by_its_use(table: Any) -> None:
    """The tree of an expression, which calls share, is the same after an update."""
    update = "SET #c = #c + :1, #n = :s REMOVE #w"
    tree = expressions._expressions.UpdateExpressionParser.make(update)
    before = expressions._text(tree)

    outcome(table, VALUES, UpdateExpression=update)

    assert expressions._text(tree) == before
