"""A small Chalice application with routes, queues and a schedule, to test the stack alone."""

from __future__ import annotations

import base64
import os
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from chalice.app import BadRequestError, Chalice, Rate, Request, Response, SQSEvent

_LOCAL = threading.local()
_KINDS = ["application/json", "multipart/form-data", "application/octet-stream", "text/plain"]


class ThreadedChalice(Chalice):
    """A Chalice whose current request belongs to the thread."""

    @property
    def current_request(self) -> Request:
        return _LOCAL.request

    @current_request.setter
    def current_request(self, request: Request) -> None:
        _LOCAL.request = request


app = ThreadedChalice("tiny")
app.container = SimpleNamespace()
app.api.binary_types.append("multipart/form-data")


def note(line: str) -> None:
    """Append one line to the diary that the test reads."""
    with Path(os.environ["TINY_DIARY"]).open("a", encoding="utf-8") as diary:
        diary.write(f"{time.time()} {os.getpid()} {line}\n")


@app.route("/v2/nothing")
def nothing() -> dict[str, Any]:
    """Answer at once."""
    return {"object": "nothing"}


@app.route("/v2/sized", methods=["GET", "HEAD"])
def sized() -> Response:
    """Answer HEAD with the length of GET's body."""
    if app.current_request.method == "GET":
        return Response("0123456789", {"ETag": '"a"'})
    return Response("", {"Content-Length": "10", "ETag": '"a"'})


@app.route("/v2/unsized", methods=["HEAD"])
def unsized() -> Response:
    """Answer HEAD without a length."""
    return Response("", {"ETag": '"a"'})


@app.route("/v2/too-fast")
def too_fast() -> Response:
    """Ask the client to retry later."""
    return Response("", {"Retry-After": "1"}, 429)


@app.route("/v2/echo", methods=["POST"], content_types=_KINDS)
def echo() -> dict[str, Any]:
    """Return what arrived."""
    request = app.current_request
    body = request.raw_body
    return {
        "body": base64.b64encode(body).decode(),
        "query": request.query_params and dict(request.query_params),
        "length": len(body),
        "seconds": request.lambda_context.get_remaining_time_in_millis() / 1000,
    }


@app.route("/v2/who/{name}", methods=["POST"])
def who(name: str) -> dict[str, Any]:
    """Return the caller before and after a pause."""
    first = app.current_request.json_body["who"]
    time.sleep(0.01)
    return {"path": name, "first": first, "second": app.current_request.json_body["who"]}


@app.route("/v2/context")
def context() -> dict[str, Any]:
    """Return the context of the call."""
    return {"context": app.current_request.context, "headers": dict(app.current_request.headers)}


@app.route("/v2/who/fixed", methods=["POST"])
def fixed() -> Response:
    """Answer without a body."""
    return Response("", status_code=204)


@app.route("/v2/broken")
def broken() -> dict[str, Any]:
    """Refuse."""
    raise BadRequestError("as asked")


def _work(name: str, event: SQSEvent) -> None:
    """Note a message, and do what it asks."""
    record = next(iter(event))
    attempt = event.to_dict()["Records"][0]["attributes"]["ApproximateReceiveCount"]
    note(f"{name} {attempt} {record.body}")
    action, _, argument = record.body.partition(" ")
    if action == "fail":
        raise ValueError("as asked")
    if action == "sleep":
        time.sleep(float(argument))
        note(f"{name} {attempt} done")


@app.on_sqs_message(queue="presage-ingest", batch_size=1, name="ingest_upload")
def ingest_upload(event: SQSEvent) -> None:
    """Note an upload."""
    _work("ingest", event)


@app.on_sqs_message(queue="presage-train-free", batch_size=1, name="train_free")
def train_free(event: SQSEvent) -> None:
    """Note a free training."""
    _work("free", event)


@app.on_sqs_message(queue="presage-train-paid", batch_size=1, name="train_paid")
def train_paid(event: SQSEvent) -> None:
    """Note a paid training."""
    _work("paid", event)


@app.on_sqs_message(queue="presage-delete", batch_size=1, name="delete_object")
def delete_object(event: SQSEvent) -> None:
    """Note a deletion."""
    _work("delete", event)


@app.schedule(Rate(1, unit=Rate.MINUTES), name="sweep")
def sweep(event: Any) -> None:
    """Note a tick."""
    note(f"sweep 1 {event.detail_type}")
