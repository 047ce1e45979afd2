"""A caller of the deployed stage: the client of the flow tests, behind the gateway's prefix."""

from __future__ import annotations

import urllib.parse
from collections.abc import Mapping
from typing import Any

from chalicelib.errors import ServiceError
from tests.flows.client import LANGUAGE, VISION, Answer, Client

SECONDS = 180.0
"""Longest wait for anything that a queue's function does: its process starts first."""


class StageClient(Client):
    """A caller of a stage whose URL includes the stage's path."""

    def __init__(self, url: str, token: str | None = None, base: str = LANGUAGE) -> None:
        super().__init__(url, token, SECONDS, base)
        self.poll_seconds = 0.3

    def send(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Make one call; the path is the service's own."""
        prefix = urllib.parse.urlsplit(self.url).path
        return super().send(method, prefix + path, body, headers)

    def clone(self) -> StageClient:
        """Make the same caller with a separate connection."""
        return StageClient(self.url, self.token, self.base)

    def vision(self) -> StageClient:
        """Make the same caller for the calls below /vision."""
        return StageClient(self.url, self.token, VISION)


def refused(answer: Answer, error: type[ServiceError], code: str = "") -> dict[str, Any]:
    """Check that an answer is this error in the service's shape; return it."""
    assert answer.status == error.status, answer
    assert answer.headers["content-type"] == "application/json"
    found: dict[str, Any] = answer.data
    assert list(found)[:2] == ["message", "code"]
    assert set(found) <= {"message", "code", "detail"}
    assert found["code"] == (code or error.code), found
    return found
