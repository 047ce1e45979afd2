"""Renaming datasets and labels."""

from __future__ import annotations

import pytest

from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.errors import Conflict, DatasetBeingDeleted, InvalidParameter
from tests.builders import World, a_source, some_rows


@pytest.fixture
def view(world: World) -> DatasetView:
    """Two labels of six texts each."""
    rows = some_rows({"refund": 6, "delivery": 6})
    return world.once("renamed", lambda: world.dataset(rows))


def test_a_dataset_is_renamed(world: World, view: DatasetView) -> None:
    """All readers see the new name; nothing else changes."""
    renamed = world.container.corrections.rename_dataset(view, " Tickets ")

    found = world.get(view)
    assert (renamed.dataset.name, found.dataset.name) == ("Tickets", "Tickets")
    assert found.dataset.counts == view.dataset.counts


def test_a_dataset_being_deleted_keeps_its_name(world: World, view: DatasetView) -> None:
    """A dataset being deleted cannot be renamed."""
    world.container.deletions.delete_dataset(world.account, "language", view.dataset.dataset_id)

    with pytest.raises(DatasetBeingDeleted):
        world.container.corrections.rename_dataset(view, "late")


def test_a_new_name_shows_in_other_processes_at_once(world: World, view: DatasetView) -> None:
    """A process that has cached the old name shows the new one in its next call."""
    warm = world.another()
    warm.container.datasets.get(world.account.account_id, "language", view.dataset.dataset_id)

    renamed = world.container.corrections.rename_label(view, view.labels[0], "money back")

    shown = warm.container.datasets.get(
        world.account.account_id, "language", view.dataset.dataset_id
    )
    assert [label.name for label in shown.labels] == ["money back", "delivery"]
    assert (renamed.label_id, renamed.name, renamed.examples) == (
        view.labels[0].label_id,
        "money back",
        6,
    )


def test_an_old_name_means_the_renamed_label(world: World, view: DatasetView) -> None:
    """Examples sent with a label's old name go to the renamed label; duplicates count once."""
    world.container.corrections.rename_label(view, view.labels[0], "money back")

    added = world.container.examples.add_text(
        world.account, world.get(view), "pay me", None, "refund"
    )
    rows = [("give it back", "refund"), ("give it back", "money back")]
    world.container.uploads.add(world.account, world.get(view), a_source(rows))
    world.work()

    found = world.get(view)
    assert added.label.label_id == view.labels[0].label_id
    assert [(label.name, label.examples) for label in found.labels] == [
        ("money back", 8),
        ("delivery", 6),
    ]
    assert found.dataset.duplicates == 1


def test_a_former_name_means_the_label_that_has_it_now(world: World, view: DatasetView) -> None:
    """A former name that another label has now refers to that label."""
    refund, delivery = view.labels
    world.container.corrections.rename_label(view, refund, "money back")

    world.container.corrections.rename_label(world.get(view), delivery, "refund")

    found = world.get(view)
    assert found.label_named("refund") == found.label(delivery.label_id)
    assert found.label_named("delivery") == found.label(delivery.label_id)
    assert found.label_named("money back") == found.label(refund.label_id)


def test_no_two_labels_have_one_name(world: World, view: DatasetView) -> None:
    """Renaming to another label's name is refused with a hint to merge."""
    with pytest.raises(Conflict, match="mergeInto"):
        world.container.corrections.rename_label(view, view.labels[0], " delivery ")
    with pytest.raises(InvalidParameter, match="blank"):
        world.container.corrections.rename_label(view, view.labels[0], " ")

    assert (
        world.container.corrections.rename_label(view, view.labels[0], "refund") == view.labels[0]
    )
