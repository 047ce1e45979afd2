"""Every operation at the limits of API Gateway and Lambda: 10 MB, 6 MB and 29 seconds.

The operations are read from the application, so a new one is driven too.
"""

from __future__ import annotations

import http.client
import io
import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

import app
from chalicelib.config import Settings
from chalicelib.stores.datasets.ownership import WAIT_SECONDS
from chalicelib.stores.fetching.sample_files import DOWNLOAD_SECONDS
from infra.local.http.front import (
    GATEWAY,
    GATEWAY_BODY_BYTES,
    GATEWAY_SECONDS,
    LAMBDA_EVENT_BYTES,
    Front,
    GatewayLimits,
)
from infra.local.http.server import HEADERS_KEY
from tests.flows.client import LANGUAGE, Client, encode_multipart
from tests.flows.world import World, csv_file
from tests.local_stack import LocalStack
from tests.tricks import Tricks

REMEDY = "POST /v2/uploads"
BINARY = "application/octet-stream"
FILE_BYTES = LAMBDA_EVENT_BYTES // 4 * 3
"""What of an event base64 leaves to a file."""
ENVELOPE = 16 * 1024
"""More than the rest of an event takes, in bytes."""
ZEROS = bytes(GATEWAY_BODY_BYTES)
QUOTES = '"' * 19_000
TEXTS = 100
UNKNOWN_ID = "A" * 26

Route = tuple[str, str]
"""Method and path template."""

OPERATIONS = {
    (operation.method, path): operation
    for operation in app.app.operations
    for _, path in operation.served_paths()
}
ROUTES = sorted(OPERATIONS)
# One path of each operation and family: megabytes for each version of a path would show no more.
ONCE = sorted({(OPERATIONS[one].name, "vision" in one[1]): one for one in ROUTES}.values())


def text_body(size: int) -> bytes:
    """Write a JSON body of that many bytes."""
    return b'{"x":"' + b"a" * (size - 8) + b'"}'


OVER_TEXT = text_body(LAMBDA_EVENT_BYTES + 1)
UNDER_TEXT = text_body(LAMBDA_EVENT_BYTES - ENVELOPE)


def with_file(size: int, name: str) -> tuple[str, bytes]:
    """Write a form of that many bytes around a file; returns its type, too."""
    kind, body = encode_multipart({}, {name: ("a.bin", b"")})
    return kind, body.replace(b"\r\n\r\n", b"\r\n\r\n" + ZEROS[: size - len(body)], 1)


@pytest.fixture(scope="module")
def tricks() -> Iterator[Tricks]:
    """A server that never comes to an end."""
    made = Tricks()
    yield made
    made.close()


@pytest.fixture(scope="module")
def caller(tricks: Tricks, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A caller of the whole service behind the limits."""
    environment = {"PRESAGE_DOWNLOAD_ALLOW": f"127.0.0.1:{tricks.port}"}
    with LocalStack("app:app", ("--bare", "--forget", "--gateway-limits"), environment) as stack:
        world = World(stack, tmp_path_factory.mktemp("limits"))
        yield world.caller("GOLD", example_calls=100_000)
        world.close()


@pytest.fixture(scope="module")
def slow_calls(caller: Client, tricks: Tricks) -> Iterator[dict[str, Future]]:
    """Calls that wait for a file from a server that sends a byte a second; they run meanwhile."""
    url = tricks.url("/drip")
    asked = {
        "/v2/vision/predict": {"modelId": "GeneralImageClassifier", "sampleLocation": url},
        "/v2/vision/ocr": {"modelId": "OCRModel", "sampleLocation": url},
        "/v2/language/datasets/upload/sync": {"path": url, "type": "text-intent"},
        "/v2/vision/datasets/upload/sync": {"path": url, "type": "image"},
    }

    def ask(path: str, fields: dict[str, str]) -> Any:
        """Make one call on a separate connection."""
        with caller.clone() as client:
            return client.json("POST", path, fields)

    with ThreadPoolExecutor(len(asked)) as pool:
        yield {path: pool.submit(ask, path, fields) for path, fields in asked.items()}


def address(route: Route) -> str:
    """Fill in the variables of a path, with ids that do not exist."""
    values = {"dataset_id": "1", "label_id": "1"}
    parts = route[1].split("/")
    return "/".join(values.get(p[1:-1], UNKNOWN_ID) if p.startswith("{") else p for p in parts)


def send(client: Client, route: Route, kind: str, body: bytes) -> Any:
    """Make one call with a body; GET and DELETE have one too here."""
    return client.send(route[0], address(route), body, {"Content-Type": kind})


def is_too_large(answer: Any, *numbers: int) -> bool:
    """Return whether an answer is a refusal in our shape, with the figures and the remedy."""
    assert answer.status == 413, answer
    assert list(answer.data) == ["message", "code"]
    said = answer.data["message"]
    assert answer.data["code"] == "too_large"
    return REMEDY in said and all(str(number) in said for number in numbers)


def is_answered_by_us(answer: Any) -> bool:
    """Return whether the application itself answered, with a record or an error."""
    if answer.status in (200, 204):
        return True
    return 400 <= answer.status < 500 and {"message", "code"} <= set(answer.data)


@pytest.mark.usefixtures("slow_calls")
def test_there_are_operations() -> None:
    """Every route is driven, HEAD by its GET."""
    served = {(method, path) for path, found in app.app.routes.items() for method in found}

    assert {route for route in served if route[0] != "HEAD"} == set(ROUTES)


def test_challenge_is_renamed_as_by_the_gateway(caller: Client) -> None:
    """Behind API Gateway a client finds the challenge of a 401 under Amazon's name alone."""
    place = caller.url.removeprefix("http://")
    connection = http.client.HTTPConnection(place, timeout=20)
    connection.request("GET", "/v2/apiusage")
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()

    assert (answer.status, body["code"]) == (401, "invalid_authentication_scheme")
    assert answer.headers["x-amzn-Remapped-WWW-Authenticate"] == "Bearer"
    assert answer.headers["WWW-Authenticate"] is None


def test_over_the_gateways_limit(caller: Client) -> None:
    """One byte over 10 MB is refused before it is read, with an error in our shape."""
    place = caller.url.removeprefix("http://")
    size = GATEWAY_BODY_BYTES + 1
    for method, path in ROUTES:
        connection = http.client.HTTPConnection(place, timeout=60)
        connection.putrequest(method, address((method, path)))
        connection.putheader("Content-Type", BINARY)
        connection.putheader("Content-Length", str(size))
        connection.endheaders()
        connection.send(ZEROS[:65536])
        answer = connection.getresponse()
        body = json.loads(answer.read())
        connection.request("GET", "/v2/health")
        after = connection.getresponse().read()
        connection.close()

        assert (answer.status, list(body)) == (413, ["message", "code"]), path
        assert body["code"] == "too_large"
        for part in (str(GATEWAY_BODY_BYTES), str(size), REMEDY):
            assert part in body["message"]
        assert b"version" in after


def test_within_the_gateways_limit_and_over_the_functions(caller: Client) -> None:
    """A file of 4.5 to 10 MB passes the gateway but not the function; the connection stays."""
    for number, route in enumerate(ONCE):
        # Every tenth body has all that the gateway accepts.
        size = FILE_BYTES + 1 if number % 10 else GATEWAY_BODY_BYTES
        answer = send(caller, route, BINARY, ZEROS[:size])
        assert is_too_large(answer, FILE_BYTES, size), route
        assert answer.headers.get("connection", "").lower() != "close"


WITH_BODY = [route for route in ONCE if route[0] in ("POST", "PUT")]


def test_over_the_functions_limit(caller: Client) -> None:
    """A text of more than 6 MB, and a form of more than 4.5 MB, are refused with the figures."""
    kind, form = with_file(FILE_BYTES + 1, "data")
    for route in WITH_BODY:
        assert is_too_large(send(caller, route, "application/json", OVER_TEXT), LAMBDA_EVENT_BYTES)
        assert is_too_large(send(caller, route, kind, form), FILE_BYTES, FILE_BYTES + 1), route


def test_within_the_functions_limit(caller: Client) -> None:
    """A request within the limits is answered by the operation itself."""
    for route in WITH_BODY:
        name = next(iter(OPERATIONS[route].files), "data")
        kind, form = with_file(FILE_BYTES - ENVELOPE, name)
        assert is_answered_by_us(send(caller, route, "application/json", UNDER_TEXT)), route
        assert is_answered_by_us(send(caller, route, kind, form)), route


def test_long_lists_are_paged_before_the_limit(caller: Client) -> None:
    """A page of texts that double inside a function's result ends early, with a link."""
    rows = [(f"{number} {QUOTES}", "quotes") for number in range(TEXTS)]
    sent = {"type": "text-intent", "name": "quotes"}
    made = caller.multipart(
        "POST", f"{LANGUAGE}/datasets/upload/sync", sent, {"data": ("q.csv", csv_file(rows))}
    ).ok
    assert made["totalExamples"] == TEXTS

    path, seen = f"{LANGUAGE}/datasets/{made['id']}/examples?count=100", 0
    pages = 0
    while path:
        answer = caller.get(path)
        seen += len(answer.ok["data"])
        path, pages = answer.next_path, pages + 1

    assert (seen, pages > 1) == (TEXTS, True)


class Application:
    """An application with our routes that answers as late, and at such length, as a test says."""

    routes = app.app.routes
    api = SimpleNamespace(binary_types=app.app.api.binary_types)

    def __init__(self, may_answer: threading.Event, size: int) -> None:
        self._may_answer, self._size = may_answer, size

    def __call__(self, event: Any, context: Any) -> dict[str, Any]:
        """Answer when it may, and at length."""
        self._may_answer.wait(60)
        return {"statusCode": 200, "body": "a" * self._size}


def asked(front: Front, route: Route) -> tuple[str, dict[str, str]]:
    """Call the front as the server does; return status and record."""
    environ = {
        "REQUEST_URI": address(route),
        "REQUEST_METHOD": route[0],
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.input": io.BytesIO(),
        HEADERS_KEY: (),
    }
    statuses: list[str] = []
    parts = front(environ, lambda status, _: statuses.append(status))
    return statuses[0], json.loads(b"".join(parts))


@pytest.mark.parametrize(
    ("limits", "is_late", "size", "status", "code", "said"),
    [
        (GatewayLimits(seconds=0.02), True, 1, "504 Gateway Timeout", "timed_out", "0.02 seconds"),
        (
            GatewayLimits(event_bytes=1_999),
            False,
            1_999,
            "502 Bad Gateway",
            "internal_error",
            "may return 1999",
        ),
    ],
)
def test_every_operation_ends_in_our_shape(
    limits: GatewayLimits, is_late: bool, size: int, status: str, code: str, said: str
) -> None:
    """An answer that comes too late, or that no function could return, is the gateway's own."""
    may_answer = threading.Event()
    if not is_late:
        may_answer.set()
    front = Front(Application(may_answer, size), "limits", limits)
    try:
        answers = [(route, *asked(front, route)) for route in ROUTES]
    finally:
        may_answer.set()

    for route, found, record in answers:
        assert (found, list(record), record["code"]) == (status, ["message", "code"], code), route
        assert said in record["message"]


def test_our_own_limits_come_before_the_gateways() -> None:
    """Our own time limits end a call before the gateway's does."""
    assert (GATEWAY.body_bytes, GATEWAY.event_bytes, GATEWAY.seconds) == (
        GATEWAY_BODY_BYTES,
        LAMBDA_EVENT_BYTES,
        GATEWAY_SECONDS,
    )
    assert Settings().sync_seconds < GATEWAY_SECONDS
    assert max(DOWNLOAD_SECONDS, WAIT_SECONDS) < GATEWAY_SECONDS


def test_slow_files_are_given_up_before_the_gateway_does(slow_calls: dict[str, Future]) -> None:
    """Predictions, OCR and synchronous uploads report slow files themselves."""
    for call in slow_calls.values():
        answer = call.result()
        # The gateway itself would answer 504.
        assert (answer.status, "longer than" in answer.body.decode()) == (400, True), answer
