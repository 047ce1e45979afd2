"""Label names: joined to datasets, remembered, and owned."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.domain.datasets.dataset import LabelCounts
from chalicelib.stores.datasets import labels as label_store
from tests.builders import World, some_rows


def test_names_of_a_thousand_labels(world: World) -> None:
    """More labels than one read returns are all named, in the order they are asked for."""
    names = {10_000 + number: f"label {number}" for number in range(1_000)}
    world.stores.labels.put("1#language", 7, names)

    assert names == world.another().stores.labels.names(names)
    assert list(reversed(names)) == list(world.another().stores.labels.names(reversed(names)))


def test_names_when_the_memory_is_full(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that were in memory are returned also by the call that empties it."""
    monkeypatch.setattr(label_store, "_CACHE_LIMIT", 1)
    names = {1: "one", 2: "two", 3: "three"}
    labels = world.stores.labels
    labels.put("1#language", 7, names)
    labels.names([1, 2])

    assert names == labels.names([1, 2, 3])


def test_unknown_label_is_absent(world: World) -> None:
    """An id without a row has no name, and an example's label is never another account's."""
    world.stores.labels.put("1#language", 7, {5: "five"})

    assert world.stores.labels.names([5, 6]) == {5: "five"}
    assert world.stores.labels.dataset_id("1#language", 5) == 7
    assert world.stores.labels.dataset_id("2#language", 5) is None
    assert world.stores.labels.dataset_id("1#vision", 5) is None
    assert world.stores.labels.dataset_id("1#language", 6) is None


def test_view_keeps_the_order_of_the_counts(world: World) -> None:
    """Labels are shown in the dataset's order with the examples of all sources."""
    view = world.dataset(some_rows({"b": 5, "a": 6}))
    first, second = view.dataset.counts
    dataset = replace(view.dataset, counts=(second, LabelCounts(first.label_id, 5, 2)))

    shown = world.stores.labels.view(dataset).labels

    assert [(label.name, label.examples) for label in shown] == [("a", 6), ("b", 7)]


def test_delete_forgets_names(world: World) -> None:
    """A deleted label has no name any more, in memory or in its row."""
    world.stores.labels.put("1#language", 7, {5: "five"})
    world.stores.labels.names([5])

    world.stores.labels.delete([5, 6])

    assert world.stores.labels.names([5]) == {}
