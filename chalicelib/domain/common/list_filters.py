"""Which records of a list are wanted."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.domain.datasets.label_names import folded


@dataclass(frozen=True)
class ListFilter:
    """Keeps records by name and status."""

    name: str = ""
    """Part of the name, in any case and however its accents are written; empty keeps all."""
    status: str | None = None
    """The status; None keeps all."""

    def __bool__(self) -> bool:
        """Return whether anything may be left out."""
        return bool(self.name) or self.status is not None

    def keeps(self, name: str, status: str) -> bool:
        """Return whether a record is wanted."""
        if self.status not in (None, status):
            return False
        return folded(self.name) in folded(name)


# Leaves nothing out.
EVERYTHING = ListFilter()
