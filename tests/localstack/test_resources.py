"""Tables, queues and bucket that `provision` makes, on another emulator than moto."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote_plus

from chalicelib.config import Settings
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.jobs.queues import INCOMING, INGEST, queue_name
from infra.resources import MAX_RECEIVES, provision
from tests.localstack import described


def url_of(clients: Clients, name: str) -> str:
    """Return the address of a queue."""
    return str(clients.sqs.get_queue_url(QueueName=name)["QueueUrl"])


def receive(clients: Clients, url: str, seconds: int = 10) -> list[dict[str, Any]]:
    """Receive one message for a moment."""
    answer = clients.sqs.receive_message(QueueUrl=url, WaitTimeSeconds=seconds, VisibilityTimeout=0)
    return list(answer.get("Messages", ()))


def test_what_is_made_is_what_is_described(settings: Settings, clients: Clients) -> None:
    """Keys, indexes, TTL and redrive are as declared, and making them again changes nothing."""
    for _ in range(2):
        provision(settings, visibility_seconds=60)

    assert described.tables(clients.dynamodb, settings) == described.wanted_tables(settings)
    for name, facts in described.queues(clients.sqs, settings).items():
        assert facts == {
            "days": {14.0},
            "visibility": 60,
            "is_dead_after": MAX_RECEIVES,
            "goes_to_its_own": True,
        }, name


def test_a_message_that_fails_five_times_is_set_aside(settings: Settings, clients: Clients) -> None:
    """After five receives a message is in the dead-letter queue, and only there."""
    provision(settings)
    name = queue_name(settings, INGEST)
    url, dead = url_of(clients, name), url_of(clients, f"{name}-dead")
    clients.sqs.send_message(QueueUrl=url, MessageBody="cannot be done")

    received = [len(receive(clients, url)) for _ in range(MAX_RECEIVES)]

    assert received == [1] * MAX_RECEIVES == [1] * 5
    assert receive(clients, url, 1) == []
    assert [message["Body"] for message in receive(clients, dead)] == ["cannot be done"]


def test_the_bucket_reports_incoming_files_only(settings: Settings, clients: Clients) -> None:
    """A file below incoming/ is reported by its key; a file elsewhere is not."""
    provision(settings)
    url = url_of(clients, queue_name(settings, INCOMING))
    for key in ("datasets/1/raw", "incoming/a b/1"):
        clients.s3.put_object(Bucket=settings.bucket, Key=key, Body=b"x")

    keys, deadline = [], time.monotonic() + 20
    while not keys and time.monotonic() < deadline:
        answer = clients.sqs.receive_message(
            QueueUrl=url, WaitTimeSeconds=5, MaxNumberOfMessages=10
        )
        bodies = [json.loads(message["Body"]) for message in answer.get("Messages", ())]
        keys += [r["s3"]["object"]["key"] for body in bodies for r in body.get("Records", ())]

    # S3 writes a space as +, LocalStack as %20; the service reads both.
    assert [unquote_plus(key) for key in keys] == ["incoming/a b/1"]


def test_a_conditional_count_is_exact_under_load(settings: Settings, clients: Clients) -> None:
    """Of simultaneous conditional reservations exactly the allowed number succeeds."""
    provision(settings)
    allowed = 100
    key = {"account_id": {"S": "busy"}, "period": {"S": "predictions#2026-11"}}

    def reserve(_: int) -> bool:
        try:
            clients.dynamodb_once.update_item(
                TableName=f"{settings.name}-quotas",
                Key=key,
                UpdateExpression="ADD used :one",
                ConditionExpression="attribute_not_exists(used) OR used < :allowed",
                ExpressionAttributeValues={":one": {"N": "1"}, ":allowed": {"N": str(allowed)}},
            )
        except clients.dynamodb_once.exceptions.ConditionalCheckFailedException:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        reserved = sum(pool.map(reserve, range(3 * allowed)))

    row = clients.dynamodb.get_item(TableName=f"{settings.name}-quotas", Key=key)
    assert (reserved, row["Item"]["used"]["N"]) == (allowed, str(allowed))
