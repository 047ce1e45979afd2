"""The course of a training: steps, resuming, equal bytes, and unusable data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.vision.backbone.pool import BackbonePool
from chalicelib.engines.vision.classification.training import ImageTraining
from chalicelib.engines.vision.interface import VisionData, VisionTraining
from chalicelib.engines.vision.linear_head import fit as head_run
from chalicelib.engines.vision.linear_head import training as head_training
from chalicelib.engines.vision.multi_label.training import MultiLabelTraining
from chalicelib.errors import TrainingFailed
from tests.engines.vision.heads_data import (
    NOW,
    a_model,
    clusters,
    options,
    run_to_end,
    vision_data,
)

ROOT = Path(__file__).parents[4]
POOL = BackbonePool(ROOT / ".models")
IMAGE_NAMES = ["bird", "cat", "dog"]


def _image_data(views: int = 1) -> VisionData:
    values, labels = clusters([14, 12, 9], views=views)
    return vision_data(values, labels, IMAGE_NAMES)


def multi_label_data() -> VisionData:
    """Return three groups of images, a third of them with a fourth label."""
    values, labels = clusters([12, 12, 12], dims=2992)
    both = [[*own, 3] if place % 3 == 0 else own for place, own in enumerate(labels)]
    values[::3, 0, :40] += 2
    return vision_data(values, both, ["indoor", "people", "pets", "red"])


KINDS = [
    pytest.param(ImageTraining, _image_data, id="image"),
    pytest.param(MultiLabelTraining, multi_label_data, id="multi-label"),
]


@pytest.mark.parametrize(("training", "make"), KINDS)
def test_steps_report_every_epoch_and_never_fall_back(training: type, make: type) -> None:
    """There is one record per epoch, numbered from 1, and progress rises to 1."""
    fitted, steps = run_to_end(training(make(), options(), POOL))

    records = [step.record for step in steps if step.record is not None]
    shares = [step.share for step in steps]
    assert [record["epoch"] for record in records] == [1, 2, 3, 4]
    assert sorted(shares) == shares
    assert shares[-1] == pytest.approx(1.0)
    assert fitted.epochs == 4
    assert fitted.train_size + fitted.test_size == len(make().pictures.pictures)
    assert records[-1]["metricsData"] == fitted.metrics


@pytest.mark.parametrize(("training", "make"), KINDS)
def test_a_resumed_training_is_the_same_to_the_bit(
    training: type, make: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Resumed at many points, a training gives equal artifact, card and records."""
    monkeypatch.setattr(head_run, "_STEP_WORK", 1.0)
    chosen = options(epochs=3)
    whole, steps = run_to_end(training(make(), chosen, POOL))
    records = [step.record for step in steps if step.record]

    resumed: VisionTraining = training(make(), chosen, POOL)
    found, share, number = [], 0.0, 0
    while (step := resumed.step()) is not None:
        assert step.share >= share
        share, number = step.share, number + 1
        found += [step.record] if step.record else []
        assert number < 20 * len(steps), "it does not continue from where it was"
        if number % 5 == 0:
            resumed = training(make(), chosen, POOL, resumed.save())
    fitted = resumed.finish(a_model("image"), NOW)

    assert number > len(steps), "it was interrupted, so tables were filled again"
    assert records == found
    assert whole.artifact == fitted.artifact
    assert whole.card == fitted.card
    assert whole.metrics == fitted.metrics


def test_a_finished_training_can_be_finished_elsewhere() -> None:
    """A training saved after its final step can be finished in another process."""
    training = ImageTraining(_image_data(), options(), POOL)
    whole, _ = run_to_end(training)

    again = ImageTraining(_image_data(), options(), POOL, training.save())

    assert again.step() is None
    assert whole == again.finish(a_model("image"), NOW)


def test_augmented_views_are_trained_on() -> None:
    """Augmented views change the model, and every epoch uses other ones."""
    plain, _ = run_to_end(ImageTraining(_image_data(), options(), POOL))
    several, _ = run_to_end(ImageTraining(_image_data(views=3), options(augment=True), POOL))

    assert plain.artifact != several.artifact
    assert several.test_size == plain.test_size


def test_nothing_is_held_out_at_a_ratio_of_1() -> None:
    """With a ratio of 1 the served head is that of the epochs, and test figures are empty."""
    fitted, _ = run_to_end(ImageTraining(_image_data(), options(split_ratio=1.0), POOL))

    assert [fitted.train_size, fitted.test_size] == [35, 0]
    assert fitted.metrics["testAccuracy"] == 0.0
    assert fitted.metrics["trainingAccuracy"] > 0.9


def test_a_larger_learning_rate_moves_weights_further() -> None:
    """Ten times the learning rate gives another model; 0 means the default."""
    default, _ = run_to_end(ImageTraining(_image_data(), options(), POOL))
    fast, _ = run_to_end(ImageTraining(_image_data(), options(learning_rate=0.01), POOL))
    zero, _ = run_to_end(ImageTraining(_image_data(), options(learning_rate=0.0), POOL))

    assert default.artifact != fast.artifact
    assert default.artifact == zero.artifact


def test_long_trainings_serve_a_shorter_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The refit of a large set stops earlier; epochs are as requested."""
    monkeypatch.setattr(head_training, "_SERVED_VISITS", 1)

    fitted, steps = run_to_end(ImageTraining(_image_data(), options(epochs=5), POOL))

    assert 5 == fitted.epochs == sum(step.record is not None for step in steps)


def test_large_sets_are_fitted_in_plain_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the exact limit the model is as good, and its card says that bytes may differ."""
    monkeypatch.setattr(head_training, "EXACT_EXAMPLES", 20)
    monkeypatch.setattr("chalicelib.engines.arithmetic.EXACT_EXAMPLES", 20)

    fitted, _ = run_to_end(ImageTraining(_image_data(), options(), POOL))

    assert not fitted.card["engine"]["isReproducible"]
    assert "differ between processors" in fitted.card["limits"]
    assert fitted.metrics["testAccuracy"] > 0.8


def test_one_label_is_not_enough() -> None:
    """One label is refused with the labels that have images, and a remedy."""
    values, labels = clusters([6])

    with pytest.raises(TrainingFailed, match=r"1 of 2 labels has images.*Add images"):
        ImageTraining(vision_data(values, labels, ["cat", "dog"]), options(), POOL)


def test_broken_features_fail_the_training() -> None:
    """Features that are not finite fail the training with the image's name."""
    values, labels = clusters([6, 6])
    values[3, 0, 5] = np.nan

    with pytest.raises(TrainingFailed, match=r"p3\.png.*Upload"):
        run_to_end(ImageTraining(vision_data(values, labels, ["a", "b"]), options(), POOL))


@pytest.mark.parametrize("pictures", [[1, 1], [2, 1], [2, 2], [3, 1, 1]])
def test_the_smallest_sets_can_be_trained(pictures: list[int]) -> None:
    """A few images of two labels can be trained, with or without a test part."""
    values, labels = clusters(pictures)
    names = [f"l{number}" for number in range(len(pictures))]

    fitted, _ = run_to_end(ImageTraining(vision_data(values, labels, names), options(), POOL))

    assert sum(pictures) == fitted.train_size + fitted.test_size
    assert fitted.card["object"] == "card"


def test_a_checkpoint_of_other_pictures_is_refused() -> None:
    """A checkpoint of other data or options, or a damaged one, is refused."""
    training = ImageTraining(_image_data(), options(), POOL)
    training.step()
    saved = training.save()
    values, labels = clusters([14, 12, 8])

    with pytest.raises(ArtifactError, match="other images"):
        ImageTraining(vision_data(values, labels, IMAGE_NAMES), options(), POOL, saved)
    with pytest.raises(ArtifactError, match="other images"):
        ImageTraining(_image_data(), options(epochs=9), POOL, saved)
    with pytest.raises(ArtifactError):
        ImageTraining(_image_data(), options(), POOL, saved[:-40])


@pytest.mark.parametrize("kind", [ImageTraining, MultiLabelTraining])
def test_the_artifact_does_not_depend_on_threads(kind: Any) -> None:
    """One and two BLAS threads give equal bytes, for every kind of model."""
    wide = vision_data(*clusters([14, 12, 9], dims=640), IMAGE_NAMES)
    data = wide if kind is ImageTraining else multi_label_data()
    artifacts = set()
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            fitted, _ = run_to_end(kind(data, options(epochs=2), POOL))
        artifacts.add(fitted.artifact)

    assert len(artifacts) == 1
