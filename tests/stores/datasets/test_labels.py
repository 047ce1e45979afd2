"""Label names: reading, caching and ownership."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.domain.datasets.dataset import LabelCounts
from chalicelib.domain.datasets.label_names import NamesOfLabel
from chalicelib.errors import LeaseLost
from chalicelib.stores.datasets import labels as label_store
from tests.builders import World, some_rows


def test_names_of_a_thousand_labels(world: World) -> None:
    """More labels than one read can return are all named, in the requested order."""
    names = {10_000 + number: f"label {number}" for number in range(1_000)}
    world.stores.labels.put("1#language", 7, names)

    assert names == world.another().stores.labels.names(map(LabelCounts, names))
    backwards = list(map(LabelCounts, reversed(names)))
    assert list(reversed(names)) == list(world.another().stores.labels.names(backwards))


def test_names_when_the_memory_is_full(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The call that clears a full cache still returns names that were cached."""
    monkeypatch.setattr(label_store, "_CACHE_LIMIT", 1)
    names = {1: "one", 2: "two", 3: "three"}
    labels = world.stores.labels
    labels.put("1#language", 7, names)
    labels.names([LabelCounts(1), LabelCounts(2)])

    assert names == labels.names(map(LabelCounts, names))


def test_unknown_label_is_absent(world: World) -> None:
    """An unknown id has no name, and labels of other accounts are never returned."""
    world.stores.labels.put("1#language", 7, {5: "five"})

    assert world.stores.labels.names([LabelCounts(5), LabelCounts(6)]) == {5: "five"}
    assert world.stores.labels.dataset_id("1#language", 5) == 7
    assert world.stores.labels.dataset_id("2#language", 5) is None
    assert world.stores.labels.dataset_id("1#vision", 5) is None
    assert world.stores.labels.dataset_id("1#language", 6) is None


def test_view_keeps_the_order_of_the_counts(world: World) -> None:
    """Labels are in the dataset's order, with the example counts of all sources."""
    view = world.dataset(some_rows({"b": 5, "a": 6}))
    first, second = view.dataset.counts
    dataset = replace(view.dataset, counts=(second, LabelCounts(first.label_id, 5, 2)))

    shown = world.stores.labels.view(dataset).labels

    assert [(label.name, label.examples) for label in shown] == [("a", 6), ("b", 7)]


def test_delete_clears_names(world: World) -> None:
    """A deleted label has no name in the cache or the table."""
    world.stores.labels.put("1#language", 7, {5: "five"})
    world.stores.labels.names([LabelCounts(5)])

    world.stores.labels.delete([5, 6])

    assert world.stores.labels.names([LabelCounts(5)]) == {}


def test_a_name_shows_once_its_fence_is_counted(world: World) -> None:
    """All processes show the previous name until the dataset's row has the new fence."""
    world.stores.labels.put("1#language", 7, {5: "five"})
    warm = world.another().stores.labels
    assert warm.names([LabelCounts(5)]) == {5: "five"}

    world.stores.labels.rename(LabelCounts(5), "fünf", 12)

    assert warm.names([LabelCounts(5)]) == {5: "five"}
    assert warm.names([LabelCounts(5, name_fence=12)]) == {5: "fünf"}
    assert warm.all_names([LabelCounts(5, name_fence=12)])[5].former == ("five",)


def test_a_name_that_was_not_committed_is_dropped(world: World) -> None:
    """A name from a writer that lost its lease does not become a former name."""
    labels = world.stores.labels
    labels.put("1#language", 7, {5: "five"})
    labels.rename(LabelCounts(5), "oops", 12)

    labels.rename(LabelCounts(5), "cinq", 13)

    assert labels.all_names([LabelCounts(5, name_fence=13)])[5] == NamesOfLabel("cinq", ("five",))


def test_a_stalled_writer_changes_no_name(world: World) -> None:
    """A writer with an older fence than the row's changes nothing."""
    labels = world.stores.labels
    labels.put("1#language", 7, {5: "five"})
    labels.rename(LabelCounts(5), "cinq", 13)

    with pytest.raises(LeaseLost):
        labels.rename(LabelCounts(5), "late", 12)

    assert labels.names([LabelCounts(5, name_fence=13)]) == {5: "cinq"}
