"""What members of several records share: their types, and the version that has them."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
from msgspec import Meta

Number = int | float


SINCE_2 = Meta(
    description="Not below /v1.", extra={"since": "2.0"}, extra_json_schema={"x-since": "2.0"}
)
"""Marks a member that the specification has from version 2.0 on. Spec: Dataset; Versioning."""


def members_since_2(record: Any) -> frozenset[str]:
    """Name the members of a record that carry the mark `SINCE_2`."""
    if not (isinstance(record, type) and issubclass(record, msgspec.Struct)):
        return frozenset()
    return frozenset(
        member.encode_name
        for member in msgspec.structs.fields(record)
        if any(SINCE_2 in get_args(part) for part in (member.type, *get_args(member.type)))
    )
