"""Pages of lists, and filters by name and status.

See contract section 1, Lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from chalicelib.domain.datasets.label_names import folded

Item = TypeVar("Item")


@dataclass(frozen=True)
class ListPage(Generic[Item]):
    """Consecutive items of a list, and whether more items follow."""

    items: tuple[Item, ...]
    offset: int
    """Position of the first item in the whole list, from 0."""
    has_more: bool
    """Whether items follow after the last one of this page."""
    hidden: int = 0
    """Number of positions on this page whose items callers may not see."""


@dataclass(frozen=True)
class ListFilter:
    """Selects records by name and status."""

    name: str = ""
    """Text that the name must contain. Case and Unicode form are ignored; empty matches all."""
    status: str | None = None
    """Status that records must have; None matches all."""

    def __bool__(self) -> bool:
        """Return whether the filter excludes anything."""
        return bool(self.name) or self.status is not None

    def keeps(self, name: str, status: str) -> bool:
        """Return whether the filter selects a record with this name and status."""
        if self.status not in (None, status):
            return False
        return folded(self.name) in folded(name)


# Matches every record.
EVERYTHING = ListFilter()
