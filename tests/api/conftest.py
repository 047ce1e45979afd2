"""A test caller that sends raw gateway events to the real services."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

import app as module
from chalicelib.errors import ServiceError, StorageUnavailable
from chalicelib.services.predictions.documents import OcrService
from chalicelib.services.uploads.ingest import IngestService
from tests.api.prepared import Prepared, prepare, raising
from tests.tiny_vision import install


@dataclass(frozen=True)
class Answer:
    """A response of the gateway."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The decoded body."""
        return json.loads(self.text)


class Caller:
    """Sends events like API Gateway."""

    def __init__(self, token: str) -> None:
        self.token = token

    def __call__(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        content_type: str | None = None,
        **headers: str,
    ) -> Answer:
        """Send one request with the caller's token unless `authorization` says otherwise."""
        headers.setdefault("authorization", f"Bearer {self.token}")
        return self.send(make_event(method, url, body, content_type, **headers))

    def json(self, method: str, url: str, /, **fields: Any) -> Answer:
        """Send a JSON body."""
        return self(method, url, json.dumps(fields).encode(), "application/json")

    def form(self, method: str, url: str, *parts: tuple[str, bytes, str | None]) -> Answer:
        """Send parts (name, content, file name) as multipart/form-data."""
        return self(method, url, multipart(*parts), 'multipart/form-data; boundary="B"')

    def send(self, event: Any) -> Answer:
        """Send an event unchanged."""
        result = module.app(event, None)
        assert set(result) >= {"statusCode", "headers", "body"}
        assert isinstance(result["body"], str)
        return Answer(result["statusCode"], result["headers"], result["body"])


def multipart(*parts: tuple[str, bytes, str | None]) -> bytes:
    """Encode parts as multipart with the boundary B."""
    body = b""
    for name, content, file_name in parts:
        file_part = f'; filename="{file_name}"' if file_name is not None else ""
        head = f'--B\r\nContent-Disposition: form-data; name="{name}"{file_part}\r\n\r\n'
        body += head.encode() + content + b"\r\n"
    return body + b"--B--\r\n"


def match(path: str) -> tuple[str, dict[str, str]]:
    """Find the route of a path; static segments win over variables, as in the gateway."""
    parts = path.strip("/").split("/")
    best: tuple[int, str, dict[str, str]] | None = None
    for template in module.app.routes:
        pieces = template.strip("/").split("/")
        if len(pieces) != len(parts):
            continue
        variables = {p[1:-1]: v for p, v in zip(pieces, parts, strict=True) if p.startswith("{")}
        fixed = [(p, v) for p, v in zip(pieces, parts, strict=True) if not p.startswith("{")]
        if all(p == v for p, v in fixed) and (best is None or len(variables) < best[0]):
            best = len(variables), template, variables
    return (best[1], best[2]) if best else (path, {})


def make_event(
    method: str,
    url: str,
    body: bytes | None = None,
    content_type: str | None = None,
    **headers: str,
) -> dict[str, Any]:
    """Build the proxy event of a request."""
    split = urlsplit(url)
    template, variables = match(split.path)
    sent = {"Host": "api.example.test", "Authorization": "Bearer good"}
    if content_type is not None:
        sent["Content-Type"] = content_type
    sent.update({name.replace("_", "-").title(): value for name, value in headers.items()})
    query = parse_qs(split.query, keep_blank_values=True)
    return {
        "resource": template,
        "path": split.path,
        "httpMethod": method,
        "headers": {name: value for name, value in sent.items() if value},
        "multiValueHeaders": {},
        "queryStringParameters": {name: values[-1] for name, values in query.items()} or None,
        "multiValueQueryStringParameters": query or None,
        "pathParameters": variables or None,
        "stageVariables": None,
        "requestContext": {
            "httpMethod": method,
            "resourcePath": template,
            "path": split.path,
            "requestId": "r-1",
        },
        "body": None if body is None else base64.b64encode(body).decode(),
        "isBase64Encoded": body is not None,
    }


@pytest.fixture(scope="session")
def prepared(aws_in_memory: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    """The service with its data, created once."""
    with prepare(tmp_path_factory.mktemp("models")) as made:
        yield made


@pytest.fixture
def world(prepared: Prepared) -> Iterator[Prepared]:
    """The prepared service, reset before each test."""
    prepared.restore()
    with pytest.MonkeyPatch.context() as patch:
        install(patch)
        yield prepared


@pytest.fixture
def call(world: Prepared) -> Iterator[Caller]:
    """A caller of the application."""
    module.app.container = world.container
    yield Caller(world.token)
    module.app.container = None


@pytest.fixture(scope="module")
def stranger() -> Iterator[Caller]:
    """A caller without a token, for an application that cannot reach any service."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.app, "_container", None)
        patch.setattr(module.app, "_make_container", raising(RuntimeError("no container")))
        yield Caller("")


@pytest.fixture(scope="module")
def paths(stranger: Caller) -> Any:
    """Return the paths of the OpenAPI document."""
    return stranger("GET", "/v2/openapi.json").json["paths"]


@pytest.fixture
def ingested(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Record the calls of the service that reads files synchronously."""
    return asked(monkeypatch, IngestService, "run_now")


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Record the calls of the OCR service."""
    return asked(monkeypatch, OcrService, "read")


def asked(patch: pytest.MonkeyPatch, service: type, name: str) -> list[tuple[Any, ...]]:
    """Record the arguments of a service's method, which is still called."""
    calls: list[tuple[Any, ...]] = []
    method = getattr(service, name)
    patch.setattr(service, name, lambda *given: calls.append(given) or method(*given))
    return calls


@pytest.fixture
def event(call: Caller) -> Any:
    """A function that builds raw events with the caller's token."""

    def make(*facts: Any, **headers: str) -> dict[str, Any]:
        """Build an event."""
        return make_event(*facts, **{"authorization": f"Bearer {call.token}", **headers})

    return make


@pytest.fixture
def storage_down() -> type[ServiceError]:
    """The error of storage that does not answer."""
    return StorageUnavailable
