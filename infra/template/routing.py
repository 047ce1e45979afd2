"""Finds the function that answers a route: the first matching rule names it.

The default is the function `records`, so most new routes need no rule. A test finds routes that
need an engine or a large disk but have no rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chalicelib.routes import OPERATIONS
from infra.template.functions import API, PICTURES, RECORDS, TEXTS

_FAMILIES = r"/v[12]/(?:vision|language)"
# Functions, each with the methods and paths that it answers: regular expressions of whole names.
RULES = (
    (TEXTS, r"POST /v2/language/(?:intent|sentiment|entities|ner)"),
    (PICTURES, r"POST /v[12]/vision/(?:predict|detect)"),
    (API, r"POST /v[12]/vision/(?:ocr|templates/learn)"),
    # Files of datasets, which are read during the call, or searched in /tmp.
    (API, rf"POST {_FAMILIES}/datasets/(?:upload|upload/sync|validate)"),
    (API, rf"(?:POST|PUT) {_FAMILIES}/datasets/{{dataset_id}}/upload"),
    (API, r"PUT /v1/vision/datasets/{dataset_id}"),
    (API, r"POST /v2/language/models/{model_id}/adjust"),
    # Uploaded texts without labels are read in the call.
    (API, r"POST /v2/language/(?:datasets/)?(?:re)?train"),
    (API, rf"POST {_FAMILIES}/models/import"),
    (API, rf"(?:POST|PUT) {_FAMILIES}/(?:batches|rankings|bulkfeedback)"),
    # Images in a call are decoded, and so are stored images that have no thumbnail yet.
    (API, r"GET /v[12]/vision/datasets/{dataset_id}/browse"),
    (API, r"POST /v[12]/vision/(?:feedback|datasets/{dataset_id}/examples)"),
)


def function_of(method: str, path: str) -> str:
    """Return the name of the function that answers a route.

    Args:
        method: method of the call, in capitals.
        path: declared path, with variables in braces.
    """
    # HEAD is answered like GET, so its answer needs the same engines.
    called = f"{'GET' if method == 'HEAD' else method} {path}"
    return next((name for name, rule in RULES if re.fullmatch(rule, called)), RECORDS)


def routes() -> Iterator[tuple[str, str, str]]:
    """Yield method, path and function of every route of the API."""
    for operation in OPERATIONS:
        for _, path in operation.served_paths():
            for method in operation.methods:
                yield method, path, function_of(method, path)
