"""Tests of verifying webhook signatures."""

from __future__ import annotations

import base64
import time
from datetime import UTC, datetime

import pytest
import standardwebhooks
from presage import SignatureError, webhooks

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
BODY = '{"type":"training.succeeded","data":{"modelId":"A"}}'


def sent(seconds_ago: int = 0) -> dict[str, str]:
    """Return headers signed with the reference library of Standard Webhooks."""
    moment = int(time.time()) - seconds_ago
    when = datetime.fromtimestamp(moment, UTC)
    signature = standardwebhooks.Webhook(SECRET).sign("msg_1", when, BODY)
    return {
        "Webhook-Id": "msg_1",
        "Webhook-Timestamp": str(moment),
        "Webhook-Signature": f"v1,AAAA {signature}",
    }


@pytest.mark.parametrize("body", [BODY, BODY.encode()])
def test_valid_events_are_accepted(body):
    """One valid signature of several suffices, with headers in any case."""
    assert webhooks.verify(body, sent(), SECRET)["data"] == {"modelId": "A"}


@pytest.mark.parametrize(
    ("body", "headers", "secret", "text"),
    [
        (BODY + " ", sent(), SECRET, "No signature matches"),
        (BODY, sent(), "whsec_" + base64.b64encode(b"x" * 32).decode(), "No signature matches"),
        (BODY, sent(3600), SECRET, "seconds ago"),
        (BODY, {}, SECRET, "webhook-id is missing"),
        (BODY, {**sent(), "Webhook-Timestamp": "x"}, SECRET, "invalid"),
        (BODY, sent(), "whsec_%", "invalid"),
    ],
)
def test_anything_else_is_refused(body, headers, secret, text):
    """A changed body, a wrong secret, an old request and invalid headers have own messages."""
    with pytest.raises(SignatureError, match=text):
        webhooks.verify(body, headers, secret)
