"""Requests for image trainings: minimum of data, and algorithms by type."""

from __future__ import annotations

import pytest

from chalicelib.domain.datasets.dataset import VISION, DatasetView
from chalicelib.domain.datasets.example import PictureFile
from chalicelib.domain.models.model import QUEUED, TrainRequest
from chalicelib.errors import InvalidParameter, TooFewExamples
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.stores.aws.tables import ModelRow
from tests.builders import World
from tests.pictures import detection_files, draw, label_folders


def _album(world: World, labels: str, kind: str = "image") -> DatasetView:
    """Create a dataset with labels and without images."""
    return world.container.datasets.create(
        world.account, VISION, NewDataset("album", labels=labels, type=kind)
    )


def _add(world: World, view: DatasetView, label: str, salt: int) -> None:
    """Add an image."""
    file = PictureFile(draw(salt=salt), f"{salt}.png")
    world.container.examples.add_picture(world.account, world.get(view), file, None, label)


def test_two_pictures_are_enough(world: World) -> None:
    """Two labels with an image each can be trained, even if others have none."""
    view = _album(world, "cat,dog,wolf")
    _add(world, view, "cat", 1)
    with pytest.raises(TooFewExamples) as refusal:
        world.train(world.get(view))
    _add(world, view, "wolf", 2)

    asked = world.train(world.get(view), TrainRequest(learning_rate=0.01))

    assert refusal.value.message == (
        f"Training needs at least 2 labels that have examples; dataset {view.dataset.dataset_id} "
        "has 1: 'dog' has 0, 'wolf' has 0. Add examples of another label, then train again."
    )
    assert (refusal.value.status, refusal.value.code) == (400, "too_few_examples")
    assert (asked.model.status, asked.queue_position, asked.model.language) == (QUEUED, 1, "N/A")
    assert asked.model.request == TrainRequest(learning_rate=0.01)
    assert len(world.rows(ModelRow)) == 1


def test_one_box_is_enough(world: World) -> None:
    """A detection dataset needs one box; without any the error lists the labels."""
    with pytest.raises(TooFewExamples, match=r"at least 1 box; dataset \d+ has 0: 'cat' has 0"):
        world.train(_album(world, "cat", "image-detection"))
    view = world.pictures(detection_files(1, ("cat",)), "image-detection")
    world.messages()

    asked = world.train(view)

    assert asked.model.request.algorithm == "object-detection"


@pytest.mark.parametrize(
    ("kind", "sent", "used"),
    [
        ("image-detection", None, "object-detection"),
        ("image-detection", "object-detection-v1", "object-detection"),
        ("image-detection", "object-detection-v2", "object-detection"),
        ("image-detection", "retail-execution", "retail-execution"),
        ("image-detection", "intent", "object-detection"),
        ("image", None, None),
        ("image", "object-detection", None),
        ("image", "magic", ""),
        ("image-multi-label", None, None),
        ("image-multi-label", "retail-execution", None),
    ],
)
def test_algorithms(world: World, kind: str, sent: str | None, used: str | None) -> None:
    """Algorithms of other types are ignored; aliases of old clients are accepted."""
    is_detection = kind == "image-detection"
    files = detection_files(1) if is_detection else label_folders({"a": 1, "b": 1})
    view = world.pictures(files, kind)
    request = TrainRequest(algorithm=sent)

    if used == "":
        with pytest.raises(InvalidParameter, match="'magic' is not one of"):
            world.train(view, request)
    else:
        assert world.train(view, request).model.request.algorithm == used


def test_global_dataset_of_another_type(world: World) -> None:
    """A text dataset cannot be added to an image training, nor can a dataset of the account."""
    view = world.pictures(label_folders({"a": 1, "b": 1}))

    for global_id in (view.dataset.dataset_id, 1):
        with pytest.raises(InvalidParameter, match="not a global dataset of type image"):
            world.train(view, TrainRequest(params={"withGlobalDatasetId": global_id}))
