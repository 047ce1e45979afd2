"""Builds the events and the context that Lambda passes to a function."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

# Account number that emulated resources belong to.
ACCOUNT = "123456789012"
# Header of a long poll: other queues whose messages end it, separated by commas. Defined here for
# worker and guard, because only the guard's process may load moto.
WAKE_HEADER = "X-Presage-Wake"
# Time limit of a worker function in seconds: the longest that Lambda allows.
WORKER_SECONDS = 15 * 60


@dataclass(frozen=True)
class LambdaContext:
    """The context of one invocation."""

    function_name: str
    seconds: float = WORKER_SECONDS
    """Time limit of the invocation, in seconds."""
    aws_request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    started: float = field(default_factory=time.monotonic)
    """Start of the invocation on the monotonic clock, in seconds."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the remaining time in milliseconds, at least 0."""
        return max(0, int((self.seconds - (time.monotonic() - self.started)) * 1000))


def sqs_event(message: dict[str, Any], queue_arn: str, region: str) -> dict[str, Any]:
    """Build the event of one received message.

    Args:
        message: as `receive_message` returns it, with all system attributes.
        queue_arn: ARN of its queue.
        region: region of its queue.
    """
    return {
        "Records": [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": dict(message.get("Attributes", {})),
                "messageAttributes": {
                    name: _attribute(value)
                    for name, value in message.get("MessageAttributes", {}).items()
                },
                "md5OfBody": message.get("MD5OfBody", ""),
                "eventSource": "aws:sqs",
                "eventSourceARN": queue_arn,
                "awsRegion": region,
            }
        ]
    }


def _attribute(value: dict[str, Any]) -> dict[str, Any]:
    """Return a message attribute in Lambda's form, whose members begin with a small letter."""
    return {
        "stringListValues": [],
        "binaryListValues": [],
        **{name[:1].lower() + name[1:]: member for name, member in value.items()},
    }


def scheduled_event(rule: str, region: str) -> dict[str, Any]:
    """Build the event of one tick of a schedule."""
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": ACCOUNT,
        "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": region,
        "resources": [f"arn:aws:events:{region}:{ACCOUNT}:rule/{rule}"],
        "detail": {},
    }
