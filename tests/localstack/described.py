"""Describes tables and queues of the emulated account, regardless of what made them."""

from __future__ import annotations

import json
from typing import Any

from chalicelib.config import Settings
from infra.resources import queue_resources, table_resources


def tables(dynamodb: Any, settings: Settings) -> dict[str, Any]:
    """Describe every table of a stack, by its name without the stack's."""
    found = {}
    for resource in table_resources(settings):
        table = dynamodb.describe_table(TableName=resource.name)["Table"]
        ttl = dynamodb.describe_time_to_live(TableName=resource.name)["TimeToLiveDescription"]
        found[resource.name.removeprefix(settings.name)] = {
            "keys": [(key["AttributeName"], key["KeyType"]) for key in table["KeySchema"]],
            "attributes": {
                each["AttributeName"]: each["AttributeType"]
                for each in table["AttributeDefinitions"]
            },
            "indexes": {
                index["IndexName"]: (index["KeySchema"], index["Projection"])
                for index in table.get("GlobalSecondaryIndexes", ())
            },
            "billing": table["BillingModeSummary"]["BillingMode"],
            "ttl": ttl.get("AttributeName"),
        }
    return found


def wanted_tables(settings: Settings) -> dict[str, Any]:
    """Describe the same facts of the tables that the project declares."""
    return {
        table.name.removeprefix(settings.name): {
            "keys": [(key["AttributeName"], key["KeyType"]) for key in table.keys],
            "attributes": {
                each["AttributeName"]: each["AttributeType"] for each in table.attributes
            },
            "indexes": {
                index["IndexName"]: (index["KeySchema"], index["Projection"])
                for index in table.indexes
            },
            "billing": "PAY_PER_REQUEST",
            "ttl": table.ttl_attribute,
        }
        for table in table_resources(settings)
    }


def queues(sqs: Any, settings: Settings) -> dict[str, Any]:
    """Describe every queue of a stack and its dead-letter queue, by name without the stack's."""
    found = {}
    for resource in queue_resources(settings, 0):
        facts, dead = (
            sqs.get_queue_attributes(
                QueueUrl=sqs.get_queue_url(QueueName=name)["QueueUrl"], AttributeNames=["All"]
            )["Attributes"]
            for name in (resource.name, resource.dead_name)
        )
        redrive = json.loads(facts["RedrivePolicy"])
        found[resource.name.removeprefix(settings.name)] = {
            "days": {int(one["MessageRetentionPeriod"]) / 86_400 for one in (facts, dead)},
            "visibility": int(facts["VisibilityTimeout"]),
            "is_dead_after": int(redrive["maxReceiveCount"]),
            "goes_to_its_own": redrive["deadLetterTargetArn"] == dead["QueueArn"],
        }
    return found
