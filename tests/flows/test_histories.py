"""A short random history of two accounts; `make histories` runs long ones."""

from __future__ import annotations

from tests.flows.histories.history import History
from tests.flows.world import World


def test_short_history_is_as_specified(world: World) -> None:
    """150 random operations of two accounts get the answers of the specification."""
    History(world, seed=15, operations=150).run()
