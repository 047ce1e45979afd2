"""Makes chosen AWS calls fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from botocore.awsrequest import AWSResponse
from botocore.exceptions import ReadTimeoutError
from moto.core.botocore_stubber import MockRawResponse
from moto.core.models import botocore_stubber

from chalicelib.stores.aws.clients import Clients
from tests.quick_aws import answer_directly, keep_clients, make_requests

THROTTLED, FAILED, TIMED_OUT, LOST, LOST_ONCE = (
    "throttled",
    "failed",
    "timed out",
    "reply lost",
    "reply lost once",
)
UNDONE = (THROTTLED, FAILED, TIMED_OUT)
"""The call is not executed."""
DONE = (LOST, LOST_ONCE)
"""It is executed: LOST executes every try and loses each reply, LOST_ONCE loses the first."""
READS = ("Get", "Query", "BatchGet", "List", "Head", "Scan")
"""Beginnings of operations that change nothing; a lost reply of theirs is a time-out."""
_THROTTLES = {
    "s3": b"<Error><Code>SlowDown</Code><Message>slow down</Message></Error>",
    "dynamodb": b'{"__type":"com.amazonaws#ProvisionedThroughputExceededException"}',
    "sqs": b'{"__type":"com.amazonaws.sqs#RequestThrottled"}',
}


class Faults:
    """Counts the calls of some clients and makes the n-th one fail, whatever it is.

    A call that botocore repeats counts once: all its tries fail, unless the fault is LOST_ONCE.
    """

    def __init__(self, clients: Clients) -> None:
        self.calls: list[str] = []
        self._target = -1
        self._kind = ""
        self._tries = 0
        keep_clients()
        for client in (clients.dynamodb, clients.dynamodb_once, clients.s3, clients.sqs):
            make_requests(client, self._send)
            client.meta.events.register("before-call", self._count)

    @contextmanager
    def at(self, target: int, kind: str) -> Iterator[None]:
        """Make the call of this number, from 0, fail until the block ends."""
        self.calls, self._target, self._kind, self._tries = [], target, kind, 0
        try:
            yield
        finally:
            self._target = -1

    def plan(self, run: Callable[[], object], *, is_short: bool) -> list[tuple[int, str]]:
        """Run without faults, and list every call with its possible failures.

        Args:
            run: the scenario.
            is_short: let each call fail in one way, in place of one for each outcome.
        """
        with self.at(-1, ""):
            run()
        faults: list[tuple[int, str]] = []
        for number, call in enumerate(self.calls):
            faults.append((number, UNDONE[number % len(UNDONE)]))
            if call.partition(".")[2].startswith(READS):
                continue
            if is_short:
                faults[-1] = (number, (*UNDONE, *DONE)[-1 - number % 5])
            else:
                faults += [(number, kind) for kind in DONE]
        return faults

    def _count(self, event_name: str, **call: Any) -> Any:
        """Record a call before its first attempt."""
        self.calls.append(event_name.removeprefix("before-call."))
        return None if self._is_target() else answer_directly(**call)

    def _is_target(self) -> bool:
        """Return whether the present call shall fail."""
        return 0 <= self._target == len(self.calls) - 1

    def _send(self, event_name: str, request: Any, **_: Any) -> Any:
        """Answer an attempt from the emulated AWS, or fail it."""
        if not self._is_target():
            return botocore_stubber(event_name, request)
        self._tries += 1
        if self._kind in (LOST, LOST_ONCE):
            answer = botocore_stubber(event_name, request)
            if self._kind == LOST_ONCE and self._tries > 1:
                return answer
        if self._kind == THROTTLED:
            service = self.calls[-1].partition(".")[0]
            return throttled(request, service)
        if self._kind == FAILED:
            return _answer(request, 500, b"")
        raise ReadTimeoutError(endpoint_url=request.url)


def throttled(request: Any, service: str) -> AWSResponse:
    """Return the answer of a throttled service."""
    return _answer(request, 503 if service == "s3" else 400, _THROTTLES[service])


def _answer(request: Any, status: int, body: bytes) -> AWSResponse:
    """Make an answer that is a failure."""
    headers = {"x-amzn-requestid": "none", "content-type": "application/x-amz-json-1.0"}
    return AWSResponse(request.url, status, headers, MockRawResponse(body))
