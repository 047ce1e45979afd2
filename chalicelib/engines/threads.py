"""Runs independent parts of a computation in threads, so that native code runs in parallel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_threads(
    work: Callable[[Item], Result], items: Sequence[Item], threads: int
) -> list[Result]:
    """Call `work` for every item, in several threads; return the results in order.

    Args:
        work: called with an item; must be safe to call from several threads.
        items: arguments of the calls.
        threads: number of simultaneous calls. With 1, or with a single item, no thread is started.
    """
    count = min(threads, len(items))
    if count <= 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, items))
