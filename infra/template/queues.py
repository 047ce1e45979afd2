"""The queues of the templates, from infra/resources.py."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from infra import resources
from infra.resources import QueueResource
from infra.template.functions import BY_QUEUE, visibility_seconds
from infra.template.names import (
    SETTINGS,
    Part,
    attribute,
    dead_queue_id,
    queue_id,
    short_name,
    sub,
)


def queues(names: Iterable[str] = BY_QUEUE) -> Part:
    """Return the definitions of queues and dead-letter queues."""
    chosen, parts = set(names), {}
    for queue in resources.queue_resources(SETTINGS, 0):
        short = short_name(queue.name)
        if short in chosen:
            parts[queue_id(short)] = _queue(queue, short)
            parts[dead_queue_id(short)] = _any_queue(queue.dead_name)
    return parts


def _queue(queue: QueueResource, short: str) -> Part:
    """Return a queue. If the queue is deleted, no job is lost: the periodic sweep resends jobs."""
    return _any_queue(
        queue.name,
        VisibilityTimeout=visibility_seconds(short),
        RedrivePolicy={
            "deadLetterTargetArn": attribute(dead_queue_id(short)),
            "maxReceiveCount": resources.MAX_RECEIVES,
        },
    )


def _any_queue(name: str, **more: Any) -> Part:
    """Return the properties that queues and dead-letter queues have in common."""
    properties = {
        "QueueName": sub(name),
        "MessageRetentionPeriod": resources.RETENTION_SECONDS,
        "SqsManagedSseEnabled": True,
        **more,
    }
    return {
        "Type": "AWS::SQS::Queue",
        "DeletionPolicy": "Delete",
        "UpdateReplacePolicy": "Delete",
        "Properties": properties,
    }
