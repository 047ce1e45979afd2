"""Types and markers of members that several records have."""

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
    """Return the names of a record's members that version 2.0 of the API added."""
    if not (isinstance(record, type) and issubclass(record, msgspec.Struct)):
        return frozenset()
    return frozenset(
        member.encode_name
        for member in msgspec.structs.fields(record)
        if any(SINCE_2 in get_args(part) for part in (member.type, *get_args(member.type)))
    )
