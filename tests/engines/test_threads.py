"""Work divided among threads."""

from __future__ import annotations

from threading import Barrier, current_thread

import pytest

from chalicelib.engines.threads import map_in_threads


def test_results_stand_in_the_order_of_the_items() -> None:
    """Results are in the order of the items, whichever thread was faster."""
    together = Barrier(3)

    def work(item: int) -> int:
        together.wait(60)
        return item * item

    assert map_in_threads(work, range(6), 3) == [0, 1, 4, 9, 16, 25]


@pytest.mark.parametrize(("items", "threads"), [([1, 2, 3], 1), ([1], 4), ([], 4)])
def test_no_thread_is_started_for_what_one_can_do(items: list[int], threads: int) -> None:
    """With one thread, one item or none, the caller does the work itself."""
    names = map_in_threads(lambda _: current_thread().name, items, threads)

    assert set(names) <= {current_thread().name}
