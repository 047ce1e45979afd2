"""Lists all records of the API, for the OpenAPI document and the client."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from chalicelib.web.records import (
    dataset_records,
    model_records,
    ocr_records,
    service_records,
)

_MODULES = (dataset_records, model_records, service_records, ocr_records)


def declared() -> Iterator[type[msgspec.Struct]]:
    """Yield the types of all records, in the order of their declaration."""
    for module in _MODULES:
        for item in vars(module).values():
            if isinstance(item, type) and item.__module__ == module.__name__:
                yield item
