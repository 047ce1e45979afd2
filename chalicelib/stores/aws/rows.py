"""Reads rows of tables, and converts them to values of the domain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from pynamodb.models import Model as TableRow

from chalicelib.domain.common.clock import from_milliseconds

Row = TypeVar("Row", bound=TableRow)
Value = TypeVar("Value")

# Conversions from the types of rows by the annotated type of a value's attribute.
_CONVERSIONS: dict[str, Callable[[Any], object]] = {
    "int": int,
    "float": float,
    "bool": bool,
    "datetime": from_milliseconds,
    "datetime | None": from_milliseconds,
    "frozenset[str]": frozenset,
}


def find_row(
    kind: type[Row], hash_key: str | int, range_key: str | int | None = None
) -> Row | None:
    """Return the row with a key, read consistently; None if it does not exist."""
    try:
        return kind.get(hash_key, range_key, consistent_read=True)
    except kind.DoesNotExist:
        return None


def refresh(row: TableRow) -> bool:
    """Read a row again, consistently; return False if it does not exist."""
    try:
        row.refresh(consistent_read=True)
    except row.DoesNotExist:
        return False
    return True


def load(kind: Callable[..., Value], row: TableRow, /, **members: Any) -> Value:
    """Convert a row to an instance of a dataclass.

    The attributes of the row have the names of the dataclass fields. A field that the row lacks
    gets its default. `members` has the values that the row stores in another form or under another
    name.
    """
    for name, convert in _members(kind):
        if name not in members and (stored := getattr(row, name, None)) is not None:
            members[name] = convert(stored) if convert else stored
    return kind(**members)


@cache
def _members(kind: Any) -> tuple[tuple[str, Callable[[Any], object] | None], ...]:
    """Return the name and the conversion of each field of a dataclass; None for no conversion."""
    return tuple((one.name, _CONVERSIONS.get(str(one.type))) for one in fields(kind))
