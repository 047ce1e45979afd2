"""A page of a list, and whether more follows. See contract section 1, Lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

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
