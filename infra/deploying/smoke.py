"""Proves that a new stack answers: health, an account, a token, a prediction."""

from __future__ import annotations

import json
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chalicelib.config import Settings
from chalicelib.errors import ServiceError
from infra.accounts import ensure_account, request_token
from infra.deploying.account import DeployError
from infra.target import CommandError

EMAIL = "smoke-test@example.com"
"""Its account; its key is drawn anew each time and kept nowhere."""
MODEL = "CommunitySentiment"
"""A prebuilt model that every deployment has."""
_TRIES = 8
_PAUSE_SECONDS = 5.0

Say = Callable[[str], None]


def smoke_test(
    url: str, settings: Settings, say: Say, pause_seconds: float = _PAUSE_SECONDS
) -> None:
    """Ask a stack what every caller asks.

    Raises:
        DeployError: it does not answer as it should.
    """
    health = _repeat(lambda: _ask(f"{url}/v2/health"), pause_seconds)
    say(f"health: {health.get('status')}, version {health.get('version')}")
    with tempfile.TemporaryDirectory() as folder:
        key_file = Path(folder) / "key.pem"
        try:
            ensure_account(settings, EMAIL, key_file)
            token = request_token(url, EMAIL, key_file, minutes=5)
        except (CommandError, ServiceError) as trouble:
            raise DeployError(f"the smoke test got no token: {trouble}") from trouble
    say("account and token: ok")
    asked = {"modelId": MODEL, "document": "the parcel came early, wonderful"}
    answer = _repeat(lambda: _ask(f"{url}/v2/language/sentiment", token, asked), pause_seconds)
    best = (answer.get("probabilities") or [{}])[0]
    if best.get("label") != "positive":
        raise DeployError(f"the smoke test's prediction is wrong: {json.dumps(answer)[:200]}")
    say(f"prediction: {best['label']} ({best['probability']:.2f})")


def _repeat(ask: Callable[[], dict[str, Any]], pause_seconds: float) -> dict[str, Any]:
    """Ask until there is an answer: a new stage takes a moment to appear, a cold function too.

    Raises:
        DeployError: there is none after a minute.
    """
    for number in range(_TRIES):
        try:
            return ask()
        except (OSError, ValueError) as trouble:
            text = _told(trouble)
            if number == _TRIES - 1 or _is_final(trouble):
                raise DeployError(
                    f"the smoke test failed: {text}; see docs/runbook.md"
                ) from trouble
        time.sleep(pause_seconds)
    raise AssertionError("the last try returns or raises")


def _is_final(trouble: Exception) -> bool:
    """Tell whether another try would bring the same."""
    return isinstance(trouble, urllib.error.HTTPError) and trouble.code in (400, 401, 409)


def _told(trouble: Exception) -> str:
    """Say what an answer that is an error says."""
    if isinstance(trouble, urllib.error.HTTPError):
        with trouble:
            body = trouble.read(500).decode(errors="replace")
        return f"{trouble.url} answered {trouble.code}: {body}"
    return str(trouble)


def _ask(url: str, token: str = "", fields: dict[str, str] | None = None) -> dict[str, Any]:
    """Send one call and read its JSON.

    Raises:
        OSError: no answer, or one that is an error.
        ValueError: the answer is no JSON object.
    """
    headers = {"Content-Type": "application/json"} if fields else {}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    body = json.dumps(fields).encode() if fields else None
    request = urllib.request.Request(url, body, headers)  # noqa: S310 - the stack's own URL
    with urllib.request.urlopen(request, timeout=40) as answer:  # noqa: S310
        return dict(json.load(answer))
