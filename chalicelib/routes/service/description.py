"""Health and API documentation. See contract, section 5."""

from __future__ import annotations

from typing import Any

from chalicelib import __version__
from chalicelib.domain.common.clock import date_text
from chalicelib.errors import RouteNotFound
from chalicelib.web.openapi.document import document
from chalicelib.web.openapi.page import DOCS, HEADERS, TYPES, page, text_of
from chalicelib.web.operations.operation import Call, Operation, TextAnswer
from chalicelib.web.records import service_records

HTML = "text/html; charset=utf-8"


@Operation("GET", "/v2/health", is_public=True)
def get_health(call: Call) -> service_records.HealthRecord:
    """Return the health of the service, its engines, and what cannot be saved."""
    container = call.container
    parts = [
        service_records.EnginePartRecord(part.name, part.state, part.title, part.sha256)
        for part in container.health.parts()
    ]
    record = service_records.HealthRecord("ok", __version__, container.engines(), parts)
    # Only a local installation has something that may not be saved.
    if found := container.unsaved():
        since = date_text(found.since)
        record.unsaved = service_records.UnsavedRecord(since, found.datasets, found.models)
    return record


@Operation("GET", "/v2/openapi.json", is_public=True)
def get_document(call: Call) -> dict[str, Any]:
    """Return this OpenAPI document."""
    return document(call.catalogue)


@Operation("GET", DOCS, answer_types=(HTML,), is_public=True)
def get_docs(call: Call) -> TextAnswer:
    """Show the OpenAPI document as a searchable page with calls to try and to copy."""
    return TextAnswer(page(), HTML, HEADERS)


@Operation(
    "GET",
    f"{DOCS}/{{file}}",
    answer_types=("text/javascript", "text/css"),
    is_public=True,
    statuses=(404,),
)
def get_docs_file(call: Call) -> TextAnswer:
    """Return a script or style sheet of the documentation page."""
    name = call.request.parameters["file"]
    # Only known names, so that a path never leaves the folder.
    if name not in TYPES:
        raise RouteNotFound
    return TextAnswer(text_of(name), TYPES[name], {**HEADERS, "Cache-Control": "max-age=3600"})
