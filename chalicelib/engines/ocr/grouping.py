"""Collects things that belong together, such as the lines of a column, into groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def grouped(
    things: Iterable[T], fits: Callable[[list[T], T], bool], *, only_last: bool = False
) -> list[list[T]]:
    """Add each thing to the first group that it fits, or begin a new group with it.

    If `only_last` is set, only the last group is tried, so each group is a run of `things`.
    """
    groups: list[list[T]] = []
    for each in things:
        tried = groups[-1:] if only_last else groups
        group = next((group for group in tried if fits(group, each)), None)
        if group is None:
            groups.append([each])
        else:
            group.append(each)
    return groups
