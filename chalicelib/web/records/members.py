"""Types and markers of members that several records have."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeVar, get_args

import msgspec
from msgspec import Meta

from chalicelib.domain.common.clock import date_text

Record = TypeVar("Record", bound=msgspec.Struct)

# The old API writes whole numbers without a decimal point.
Number = int | float

# Marks a member that version 2.0 added. See spec (Dataset; Versioning).
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


def record(kind: type[Record], value: object, /, **members: Any) -> Record:
    """Return the record of a value.

    The attributes of `value` become the members of the same names, with times as text. `members`
    has the members with another name or form.
    """
    for name in kind.__struct_fields__:
        if name not in members and hasattr(value, name):
            found = getattr(value, name)
            members[name] = date_text(found) if isinstance(found, datetime) else found
    return kind(**members)
