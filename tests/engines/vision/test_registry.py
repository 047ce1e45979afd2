"""Every type of image dataset has its extractor and training."""

from __future__ import annotations

from pathlib import Path

import pytest

from chalicelib.engines.vision.backbone.pool import BackbonePool
from chalicelib.engines.vision.classification.training import ImageTraining
from chalicelib.engines.vision.multi_label.training import MultiLabelTraining
from chalicelib.engines.vision.registry import extractor_for, open_training
from tests.engines.vision.heads_data import clusters, options, vision_data

POOL = BackbonePool(Path(__file__).parents[3] / ".models")


def test_each_type_has_an_extractor_of_its_own() -> None:
    """Extractors of different types and algorithms have different names."""
    asked = [
        ("image", None),
        ("image-multi-label", None),
        ("image-detection", "object-detection"),
        ("image-detection", "retail-execution"),
    ]

    names = [extractor_for(kind, algorithm, POOL).name for kind, algorithm in asked]

    assert names[:2] == ["classification", "multi-label"]
    assert len(set(names)) == 4
    assert names[2] == extractor_for("image-detection", None, POOL).name


@pytest.mark.parametrize(
    ("kind", "dims", "expected"),
    [("image", 96, ImageTraining), ("image-multi-label", 2992, MultiLabelTraining)],
)
def test_trainings_are_opened_by_type(kind: str, dims: int, expected: type) -> None:
    """Trainings are created and resumed by type with one function."""
    values, labels = clusters([8, 8], dims=dims)
    data = vision_data(values, labels, ["a", "b"])
    training = open_training(kind, data, options(), POOL)
    for _ in range(5):
        training.step()

    again = open_training(kind, data, options(), POOL, training.save())

    assert isinstance(training, expected)
    assert isinstance(again, expected)
    assert training.epochs_done == again.epochs_done


@pytest.mark.parametrize("kind", ["text-intent", ""])
def test_other_types_are_a_mistake_of_the_caller(kind: str) -> None:
    """Other types are refused by name."""
    with pytest.raises(ValueError, match="not a type of image dataset"):
        extractor_for(kind, None, POOL)
    with pytest.raises(ValueError, match="not a type of image dataset"):
        open_training(kind, vision_data(*clusters([2, 2]), ["a", "b"]), options(), POOL)
