"""Filters of lists by name and status."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.domain.datasets.label_names import folded


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
        """Return whether a record with this name and status matches."""
        if self.status not in (None, status):
            return False
        return folded(self.name) in folded(name)


# Matches every record.
EVERYTHING = ListFilter()
