"""Examples of all calls, recorded from the service. tests/flows/documented checks them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from chalicelib.domain.accounts.api_key import ALL, ApiKeyNotFound, InsufficientScope
from chalicelib.domain.common.repeats import KeyReused
from chalicelib.domain.jobs.template_learning import LearningNotFound
from chalicelib.errors import (
    DatasetBeingDeleted,
    DatasetNotFound,
    DeletionNotFound,
    ExportNotFound,
    InvalidToken,
    MissingParameter,
    ModelNotFound,
    NotFound,
    RateExceeded,
    RouteNotFound,
    ServiceError,
    StorageUnavailable,
    TimedOut,
    TokenNotFound,
    TooLarge,
    UnsupportedType,
)
from chalicelib.web.http.responses import INTERNAL

# Request and answer of each operation, by the result of `key`.
EXAMPLES = Path(__file__).parents[2] / "assets" / "examples.json"


def key(operation: str, family: str) -> str:
    """Return the key of an example, made from the names of its operation and family."""
    return "_".join(part for part in (operation, family) if part)


def example(operation: str, family: str) -> dict[str, Any]:
    """Return the recorded `request` and `answer` of an operation; {} if there is none.

    A file in `request` is written as `@` followed by its name.
    """
    found: dict[str, Any] = _all().get(key(operation, family), {})
    return found


def refusal(path: str, status: int) -> dict[str, Any]:
    """Return the body of an example error response with this status."""
    if status == NotFound.status:
        name = next((name for name in _NOT_FOUND if f"{{{name}}}" in path), "model_id")
        error = _NOT_FOUND[name]
    else:
        error = _REFUSALS[status]
    said = {"message": error.message, "code": error.code, "detail": error.detail}
    return {name: text for name, text in said.items() if text}


# Example of a 404, by the variable that the path contains.
_NOT_FOUND: dict[str, ServiceError] = {
    "deletion_id": DeletionNotFound("Z5BSHFEWCQVZOPVYEZ5QRBPBUU"),
    "export_id": ExportNotFound("D2FKZNHODKCIUSSA47U5OORTNM"),
    "file": RouteNotFound(),
    "learning_id": LearningNotFound("D2FKZNHODKCIUSSA47U5OORTNM"),
    "key_id": ApiKeyNotFound("K4CHIJVHSBXSBXKNS5LQSYFAKM"),
    "token": TokenNotFound(),
    "model_id": ModelNotFound("BMPQSAWRE72FYYS4YQ3U2XCU5E"),
    "dataset_id": DatasetNotFound(1_000_201),
}
_REFUSALS: dict[int, ServiceError] = {
    400: MissingParameter("name"),
    401: InvalidToken(),
    403: InsufficientScope(ALL),
    409: DatasetBeingDeleted(1_000_201),
    413: TooLarge(
        "The file has 31457280 bytes; at most 26214400 are allowed. Split it, and add the other "
        "parts with PUT."
    ),
    415: UnsupportedType(
        "The Content-Type 'text/csv' is not supported here; send multipart/form-data."
    ),
    422: KeyReused(),
    429: RateExceeded(
        "12 documents of this account are in progress, the maximum. Wait until one has "
        "finished, then try again.",
        retry_after_seconds=2,
    ),
    500: ServiceError(INTERNAL),
    503: StorageUnavailable(),
    504: TimedOut("The file was not read within 25 seconds: 12,000 rows were reached."),
}


@cache
def _all() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(EXAMPLES.read_text("utf-8"))
    return found
