"""Types and markers that members of several records share."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
from msgspec import Meta

# The old API writes whole numbers without a decimal point.
Number = int | float


# Marks a member that version 2.0 added. Spec: Dataset; Versioning.
SINCE_2 = Meta(
    description="Not below /v1.", extra={"since": "2.0"}, extra_json_schema={"x-since": "2.0"}
)


def members_since_2(record: Any) -> frozenset[str]:
    """Return the members of a record that are marked with `SINCE_2`."""
    if not (isinstance(record, type) and issubclass(record, msgspec.Struct)):
        return frozenset()
    return frozenset(
        member.encode_name
        for member in msgspec.structs.fields(record)
        if any(SINCE_2 in get_args(part) for part in (member.type, *get_args(member.type)))
    )
