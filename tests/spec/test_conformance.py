"""Every answer to generated requests is one that the OpenAPI document declares.

The requests are made from the document and go through the local gateway's events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import load_all_checks
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi import checks
from werkzeug.datastructures import EnvironHeaders

import app as module
from infra.local.http.front import GATEWAY, Front
from infra.local.http.server import HEADERS_KEY
from tests.api.conftest import FakeServices

load_all_checks()
FRONT = Front(module.app, "presage", GATEWAY)
CHECKS = (
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
)


def through_the_gateway(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Add the raw headers and address that the stack's own server puts there."""
    headers = EnvironHeaders(environ)
    target = environ.get("REQUEST_URI") or environ["PATH_INFO"]
    environ |= {
        HEADERS_KEY: list(headers.items()),
        "REQUEST_URI": target,
        "REMOTE_ADDR": "127.0.0.1",
    }
    return FRONT(environ, start_response)


def load() -> schemathesis.BaseSchema:
    """Load the document as a caller does."""
    return schemathesis.openapi.from_wsgi(
        "/v2/openapi.json", through_the_gateway, config=SchemathesisConfig()
    )


# Aliases run the same declarations, and so does the other family where it has no files.
OWN = r"predict|detect|ocr|feedback|bulkfeedback|datasets/upload|datasets/\{dataset_id\}/examples"
SCHEMA = load().exclude(
    path_regex=rf"^/v2/vision/(?!{OWN})|^/v1/|^/oauth2/|/token/|/datasets/(re)?train$"
)


@pytest.fixture(autouse=True)
def services() -> Iterator[None]:
    """Answer from hand-made services with plenty of allowance."""
    kept = module.app._container
    fake = FakeServices(predictions_used=-100_000, examples_used=-100_000)
    module.app.container = fake.container()
    yield
    module.app.container = kept


@SCHEMA.parametrize()
@settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_answers_are_declared(case):
    """Status, type, headers and record of each answer stand in the document."""
    case.call_and_validate(headers={"Authorization": "Bearer good"}, checks=CHECKS)
