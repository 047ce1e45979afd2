"""Verifies webhook events, which are signed as Standard Webhooks specifies.

Example:
    event = webhooks.verify(body, headers, secret)
    if event["type"] == "training.succeeded":
        print(event["data"]["modelId"])
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

from presage.errors import SignatureError

# Maximum difference in seconds between the time of a request and this machine's. It limits replays.
TOLERANCE = 300.0


def verify(
    body: str | bytes, headers: Mapping[str, str], secret: str, *, tolerance: float = TOLERANCE
) -> dict[str, Any]:
    """Verify a webhook request, and return the event that it contains.

    Args:
        body: the body of the request as received, before any parsing.
        headers: the headers of the request, including `webhook-id`, `webhook-timestamp` and
            `webhook-signature`, in upper or lower case.
        secret: the secret of the webhook.
        tolerance: maximum difference between the time of the request and now, in seconds.

    Raises:
        SignatureError: the service did not send the request, or the request is too old.
    """
    sent = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, stamp = sent["webhook-id"], sent["webhook-timestamp"]
        signatures = sent["webhook-signature"].split()
        age = abs(time.time() - int(stamp))
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except KeyError as missing:
        raise SignatureError(f"The header {missing.args[0]} is missing.") from None
    except (ValueError, binascii.Error):
        raise SignatureError("The secret or the header webhook-timestamp is invalid.") from None
    content = body.encode() if isinstance(body, str) else body
    signed = f"{message_id}.{stamp}.".encode() + content
    expected = b"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256))
    if not any(hmac.compare_digest(expected, one.encode()) for one in signatures):
        raise SignatureError("No signature matches: the secret is wrong, or the body was changed.")
    if age > tolerance:
        raise SignatureError(
            f"The request was sent {age:.0f} seconds ago; {tolerance:.0f} are allowed."
        )
    event: dict[str, Any] = json.loads(content)
    return event
