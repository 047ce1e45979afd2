"""The emulated AWS frees deleted and overwritten data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.flows.memory import MEGABYTE, resident_bytes
from tests.local_stack import LocalStack

CONTENT = bytes(range(256)) * 400
"""A hundred kilobytes; what a few hundred calls retain is then visible in the total."""
NUMBERS = {"L": [{"N": str(number)} for number in range(1_000)]}
"""An attribute of which a copy takes a hundred kilobytes as well."""
CALLS = 150
MOST_GROWN = 8 * MEGABYTE
"""One copy for each call would be 15 MB and more."""


def rows_table(stack: LocalStack) -> tuple[Any, dict[str, Any]]:
    """Make a table with one row; return the arguments that name the row."""
    dynamodb = stack.client("dynamodb")
    if "grown" not in dynamodb.list_tables()["TableNames"]:
        dynamodb.create_table(
            TableName="grown",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            BillingMode="PAY_PER_REQUEST",
        )
    dynamodb.put_item(TableName="grown", Item={"id": {"S": "x"}, "numbers": NUMBERS})
    return dynamodb, {"TableName": "grown", "Key": {"id": {"S": "x"}}}


def write_rows(stack: LocalStack) -> Callable[[], object]:
    """Change a row, as a worker's heartbeat does."""
    dynamodb, row = rows_table(stack)
    change: dict[str, Any] = {
        "UpdateExpression": "ADD used :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    return lambda: dynamodb.update_item(**row, **change)


def write_together(stack: LocalStack) -> Callable[[], object]:
    """Change a row in a transaction."""
    dynamodb, row = rows_table(stack)
    change = {
        "UpdateExpression": "ADD used :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    return lambda: dynamodb.transact_write_items(TransactItems=[{"Update": {**row, **change}}])


def read_rows(stack: LocalStack) -> Callable[[], object]:
    """List rows, as a caller's poll does."""
    dynamodb, _ = rows_table(stack)
    return lambda: dynamodb.query(
        TableName="grown",
        KeyConditionExpression="id = :id",
        ExpressionAttributeValues={":id": {"S": "x"}},
    )


def send_messages(stack: LocalStack) -> Callable[[], object]:
    """Send a message, take it and delete it, as each job does."""
    sqs = stack.client("sqs")
    queue = sqs.create_queue(QueueName="grown")["QueueUrl"]

    def call() -> None:
        """Go once through a message's life."""
        sqs.send_message(QueueUrl=queue, MessageBody=CONTENT.hex()[:200_000])
        (message,) = sqs.receive_message(QueueUrl=queue)["Messages"]
        sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])

    return call


@pytest.mark.parametrize("prepare", [write_rows, write_together, read_rows, send_messages])
def test_calls_leave_nothing_behind(
    stack: LocalStack, prepare: Callable[[LocalStack], Callable[[], object]]
) -> None:
    """Hundreds of calls without a lasting effect do not increase memory."""
    call, process = prepare(stack), stack.processes["aws"]
    for _ in range(20):
        call()
    before = resident_bytes(process)

    for _ in range(CALLS):
        call()

    assert resident_bytes(process) - before < MOST_GROWN


def test_deleted_objects_give_their_memory_back(stack: LocalStack) -> None:
    """Memory of deleted objects is returned to the system."""
    s3, bucket, process = stack.client("s3"), stack.settings.bucket, stack.processes["aws"]
    names = [f"given-back/{number}" for number in range(40)]
    s3.put_object(Bucket=bucket, Key=names[0], Body=CONTENT * 8)
    before = resident_bytes(process)
    for name in names:
        s3.put_object(Bucket=bucket, Key=name, Body=CONTENT * 8)
    full = resident_bytes(process)

    s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": name} for name in names]})

    assert full - before > 25 * MEGABYTE
    assert resident_bytes(process) - before < MOST_GROWN
