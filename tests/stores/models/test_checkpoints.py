"""The recorded start and the saved state of a run."""

from __future__ import annotations

from dataclasses import replace

from chalicelib.domain.datasets.dataset import LabelCounts
from chalicelib.domain.models.model import Model
from tests.builders import World
from tests.pictures import label_folders


def _model(world: World) -> Model:
    """Return a run."""
    return Model(
        "1", "M", "m", 1, "vision", "image", "N/A", "RUNNING", 0, world.clock(), world.clock()
    )  # fmt: skip


def test_beginning_is_remembered(world: World) -> None:
    """A resumed run gets the data recorded at its start, whatever was added since."""
    dataset = world.pictures(label_folders({"a": 2, "b": 1})).dataset
    store, model = world.stores.checkpoints, _model(world)
    assert store.beginning(model) is None

    made = store.begin(model, [dataset], world.clock())
    grown = replace(dataset, counts=(*dataset.counts, LabelCounts(99, 5, 5)))

    assert store.beginning(model) == made
    assert made.of(grown) == dataset
    assert made.begun_at == world.clock()
    other = replace(dataset, dataset_id=1)
    assert made.of(other) == other


def test_state_is_replaced_and_removed(world: World) -> None:
    """The latest state is stored; both objects are deleted with the run."""
    store, model = world.stores.checkpoints, _model(world)
    assert store.get(model) is None
    store.put(model, b"one")
    store.put(model, b"two")
    store.begin(model, [], world.clock())

    assert store.get(model) == b"two"
    assert store.get(replace(model, run=2)) is None
    assert len(world.objects("models/M/checkpoints/")) == 2
    store.delete(model)
    store.delete(model)
    assert world.objects("models/") == []
