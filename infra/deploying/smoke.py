"""Tests that a new stack works: health, an account, a token, a prediction."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from chalicelib.config import Settings
from chalicelib.errors import ServiceError
from infra.accounts import NoToken, ensure_account, request_token
from infra.deploying.account import DeployError
from infra.local.client import CallFailed, Service
from infra.target import CommandError

# Address of the test's account; it gets a new key for each test, which is not stored.
EMAIL = "smoke-test@example.com"
# A prebuilt model that every deployment has.
MODEL = "CommunitySentiment"
_TRIES = 8
# Seconds after which a call is not repeated; one call may take up to a minute.
_LONGEST_SECONDS = 120.0
_FINAL = (400, 401, 409)
_PAUSE_SECONDS = 5.0

Answer = TypeVar("Answer")
Say = Callable[[str], None]


def smoke_test(
    url: str, settings: Settings, say: Say, pause_seconds: float = _PAUSE_SECONDS
) -> None:
    """Make the calls that every client makes; raise DeployError if an answer is wrong."""
    service = Service(url)
    health = _repeat(lambda: service.get("/v2/health"), pause_seconds)
    say(f"health: {health.get('status')}, version {health.get('version')}")
    with tempfile.TemporaryDirectory() as folder:
        key_file = Path(folder) / "key.pem"
        try:
            ensure_account(settings, EMAIL, key_file)
            token = _repeat(lambda: request_token(url, EMAIL, key_file, 5), pause_seconds)
        except (CommandError, ServiceError) as error:
            raise DeployError(f"the smoke test got no token: {error}") from error
    say("account and token: ok")
    asked = {"modelId": MODEL, "document": "the parcel came early, wonderful"}
    service = Service(url, token)
    answer = _repeat(lambda: service.post("/v2/language/sentiment", asked), pause_seconds)
    best = (answer.get("probabilities") or [{}])[0]
    if best.get("label") != "positive":
        raise DeployError(f"the smoke test's prediction is wrong: {json.dumps(answer)[:200]}")
    say(f"prediction: {best['label']} ({best['probability']:.2f})")


def _repeat(ask: Callable[[], Answer], pause_seconds: float) -> Answer:
    """Repeat a call for two minutes, because a new stage takes a moment to appear."""
    deadline, number = time.monotonic() + _LONGEST_SECONDS, 0
    while True:
        number += 1
        try:
            return ask()
        except (CallFailed, NoToken) as error:
            is_over = number == _TRIES or time.monotonic() + pause_seconds > deadline
            if is_over or error.status in _FINAL:
                raise DeployError(f"the smoke test failed: {error}; see docs/runbook.md") from error
        time.sleep(pause_seconds)
