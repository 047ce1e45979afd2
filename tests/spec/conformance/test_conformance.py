"""Every answer to a generated request is declared in the OpenAPI document.

The requests are made from the document and go through the local gateway's events.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any
from zlib import crc32

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
from tests.api.prepared import (
    ALBUM_ID,
    BOX_MODEL_ID,
    DATASET_ID,
    DELIVERY,
    EXAMPLES,
    IMAGE_MODEL_ID,
    MODEL_ID,
    PICTURE,
    PREDICTIONS,
    Prepared,
    prepare,
)
from tests.full_size import size
from tests.tiny_vision import install
from tests.tricks import ARCHIVE

load_all_checks()
# Without the renaming of headers by API Gateway: the document describes what the service sends.
FRONT = Front(module.app, "presage", replace(GATEWAY, remaps_headers=False))
CHECKS = (
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
)


def through_the_gateway(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Add the raw headers and client address that the stack's own server sets."""
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


@pytest.fixture(scope="module")
def prepared(aws_in_memory: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    """The service with its data, created once for this module."""
    with prepare(tmp_path_factory.mktemp("models")) as made:
        yield made


@pytest.fixture
def world(prepared: Prepared) -> Iterator[Prepared]:
    """The service behind the gateway, with high quotas so that no call is throttled."""
    kept = module.app._container
    prepared.restore()
    for kind in (PREDICTIONS, EXAMPLES):
        prepared.use(kind, -100_000)
    module.app.container = prepared.container
    with pytest.MonkeyPatch.context() as patch:
        install(patch)
        yield prepared
    module.app.container = kept


def known(world: Prepared, path: str) -> dict[str, Any]:
    """Return existing values for the path variables and body fields of a path."""
    is_vision = "/vision/" in path
    boxes = path.endswith(("/detect", "/bulkfeedback"))
    vision_model = BOX_MODEL_ID if boxes else IMAGE_MODEL_ID
    dataset = ALBUM_ID if is_vision else DATASET_ID
    model = "OCRModel" if path.endswith("/ocr") else vision_model if is_vision else MODEL_ID
    return {
        "dataset_id": dataset,
        "datasetId": dataset,
        "model_id": MODEL_ID,
        "modelId": model,
        "label_id": DELIVERY,
        "labelId": "1" if is_vision else DELIVERY,
        "expectedLabel": "red" if is_vision else "refund",
        "data": ARCHIVE if path.endswith(("/upload", "/sync", "/bulkfeedback")) else PICTURE,
        "sampleContent": PICTURE,
        "sampleBase64Content": base64.b64encode(PICTURE).decode(),
    }


def name_what_is_known(case: schemathesis.Case, world: Prepared) -> None:
    """Replace the ids of every other case with existing ones; a hash of the case decides."""
    sent = (case.path_parameters, case.query, case.body)
    if crc32(repr(sent).encode()) % 2:
        return
    values = known(world, case.path)
    for group in sent:
        if isinstance(group, dict):
            group.update({name: values[name] for name in group if name in values})
            if "assertion" in group:  # not among the values of each case, because signing is slow
                group["assertion"] = world.assertion()


@SCHEMA.parametrize()
@settings(
    max_examples=size(2, 6),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_answers_are_declared(case, world):
    """Status, content type, headers and record of each answer match the document."""
    name_what_is_known(case, world)
    case.call_and_validate(headers={"Authorization": f"Bearer {world.token}"}, checks=CHECKS)
