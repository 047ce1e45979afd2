"""The nearest training text of each label, used in addition to the linear head."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from chalicelib.engines import artifact
from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.interface import TextFitOptions, TextTrainingSet
from chalicelib.engines.text import fit as training
from chalicelib.engines.text.classifier import KIND, VERSION, TrainedText, dump, load
from chalicelib.engines.text.head import neighbours
from chalicelib.engines.text.head.neighbours import (
    NearestTexts,
    add_nearness,
    choose_weight,
    fit_neighbours,
    likely_labels,
)
from chalicelib.engines.text.head.regression import ExampleBatch
from tests.engines.text.clusters import a_training_set

DIMS = 16


def _scattered(labels: int = 6, seed: int = 0) -> TextTrainingSet:
    """Return texts of 60 topics that are randomly assigned to labels."""
    generator = np.random.default_rng(seed)
    centres = generator.standard_normal((60, DIMS))
    topics = np.tile(np.arange(60), 8)
    vectors = centres[topics] + 0.5 * generator.standard_normal((480, DIMS))
    return TextTrainingSet(
        blocks={"encoder": vectors.astype(np.float32)},
        label_indexes=generator.integers(0, labels, 60)[topics],
        label_names=[f"label {number}" for number in range(labels)],
        digests=[sha256(f"{number}".encode()).digest() for number in range(480)],
    )


def _fit(examples: TextTrainingSet) -> TrainedText:
    return training.fit(examples, TextFitOptions(), lambda epoch: None)


def _part(examples: TextTrainingSet, rows: slice) -> TextTrainingSet:
    return replace(
        examples,
        blocks={name: block[rows] for name, block in examples.blocks.items()},
        label_indexes=examples.label_indexes[rows],
        digests=examples.digests[rows],
    )


def test_the_nearest_text_of_a_label_counts() -> None:
    """Nearness to each label is as computed by hand; a label without texts gets -2."""
    parts = [
        ExampleBatch(np.array([[3.0, 0.0], [-1.0, 0.0]]), np.array([0, 0])),
        ExampleBatch(np.array([[0.0, 2.0]]), np.array([2])),
    ]

    found = fit_neighbours(parts, 3, 4.0)

    assert found.ends.tolist() == [2, 2, 3]
    assert found.anchors.tolist() == [[512, 0], [-512, 0], [0, 512]]
    near = found.nearness(np.array([[5.0, 0.0], [0.0, 1.0]]))
    np.testing.assert_allclose(near, [[1.0, -2, 0], [0, -2, 1.0]])


def test_a_byte_is_stored_unless_it_loses_too_much() -> None:
    """Numbers above a quarter take two bytes only where the cosine of a text to itself suffers."""
    whole = [ExampleBatch(np.eye(2), np.array([0, 1]))]
    spread = [ExampleBatch(np.array([[0.3, *[0.1] * 91]]), np.array([0]))]

    large, small = fit_neighbours(whole, 2, 4.0), fit_neighbours(spread, 1, 4.0)

    assert large.anchors.dtype == np.int16
    assert small.anchors.dtype == np.int8
    assert small.anchors.max() == 127


def test_only_asked_labels_are_looked_at() -> None:
    """Only the requested labels of each text are compared."""
    two = NearestTexts(np.array([[100, 0], [0, 100]], np.int8), np.array([1, 2]), 1.0)

    near = two.nearness(np.eye(2), np.array([[0], [1]]))

    np.testing.assert_allclose(near, [[100 / 512, -2], [-2, 100 / 512]])


def test_unlikely_labels_count_as_the_farthest_likely_one() -> None:
    """Labels that are unlikely or without texts get the nearness of the farthest likely one."""
    logits = np.array([[9.0, 8, 7, 6, 5, 4, 3, 2, 1, 0]])
    nearness = np.array([[0.5, 0.75, -2, 0.25, 0.5, 0.5, 0.5, 0.5, 1, 1]], np.float32)

    added = add_nearness(logits, nearness, 4.0) - logits

    assert sorted(likely_labels(logits)[0].tolist()) == list(range(8))
    np.testing.assert_allclose(added, [[2, 3, 1, 1, 2, 2, 2, 2, 1, 1]])


def test_the_weight_follows_the_loss_and_few_texts_tell_none() -> None:
    """The smallest weight with four fifths of the best gain is chosen; few texts give 0."""
    losses = {0.0: 1.0, 2.0: 0.98, 4.0: 0.9, 8.0: 0.83, 16.0: 0.8, 32.0: 2.0}

    assert choose_weight(losses.__getitem__, neighbours.FEWEST_TEXTS) == 8.0
    assert choose_weight(losses.__getitem__, neighbours.FEWEST_TEXTS - 1) == 0.0
    assert choose_weight(lambda weight: 0.985 if weight else 1.0, 1_000) == 0.0


def test_labels_that_lie_in_many_places_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels spread over many clusters are predicted correctly where the linear head fails."""
    examples = _scattered()
    seen, unseen = _part(examples, slice(0, 420)), _part(examples, slice(420, 480))

    with_them = _fit(seen)
    monkeypatch.setattr(neighbours, "choose_weight", lambda loss_with, texts: 0.0)
    without = _fit(seen)

    def right(model: TrainedText) -> float:
        return float((model.predict(unseen.blocks).argmax(1) == unseen.label_indexes).mean())

    assert without.parameters.neighbours is None
    assert right(without) < 0.7
    assert right(with_them) > 0.9
    assert with_them.report is not None
    # What is said of the held-out part is what unseen texts get.
    assert with_them.report.metrics.test_accuracy > 0.85
    assert with_them.report.calibration_error < 0.1


def test_the_curve_does_not_compare_a_text_with_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """The learning curve excludes a text itself, so random labels are not memorized."""
    monkeypatch.setattr(neighbours, "choose_weight", lambda loss_with, texts: 32.0)
    examples = a_training_set([100] * 4)
    labels = np.random.default_rng(1).integers(0, 4, 400)

    model = _fit(replace(examples, label_indexes=labels))

    assert model.report is not None
    assert model.report.metrics.training_accuracy < 0.5


def test_round_trip_and_one_text_as_many() -> None:
    """A stored model gives the same answers, to one text as to many."""
    examples = _scattered()
    trained = _fit(examples)

    again = load(dump(trained))

    assert trained.parameters.neighbours is not None
    assert again.parameters.neighbours is not None
    assert again.bytes > 480 * DIMS
    shares = again.predict(examples.blocks)
    np.testing.assert_array_equal(shares, trained.predict(examples.blocks))
    one = {name: block[7:8] for name, block in examples.blocks.items()}
    np.testing.assert_allclose(again.predict(one), shares[7:8], rtol=1e-5)


@pytest.mark.parametrize(
    "change",
    [
        lambda found: replace(found, anchors=found.anchors[:, 1:]),
        lambda found: replace(found, anchors=found.anchors[1:]),
        lambda found: replace(found, ends=found.ends[-1:]),
        lambda found: replace(found, ends=found.ends[::-1]),
        lambda found: replace(found, weight=0.0),
        lambda found: replace(found, weight=float("inf")),
    ],
    ids=["dims", "anchors", "labels", "order", "nothing", "infinite"],
)
def test_damaged_neighbours_are_refused(change: Callable[[NearestTexts], NearestTexts]) -> None:
    """Inconsistent parts are an error at load."""
    trained = _fit(_scattered())
    parts = trained.parameters
    assert parts.neighbours is not None
    damaged = TrainedText(replace(parts, neighbours=change(parts.neighbours)))

    with pytest.raises(ArtifactError, match="neighbours"):
        load(dump(damaged))


@pytest.mark.parametrize("header", [{}, {"weight": 4.0, "ends": "x"}, 3])
def test_a_header_of_another_shape_is_refused(header: object) -> None:
    """A header of another type is an error."""
    content = artifact.load(dump(_fit(_scattered())), KIND, VERSION)

    with pytest.raises(ArtifactError):
        load(artifact.dump(content.header | {"neighbours": header}, content.arrays))


def test_anchors_of_another_kind_are_refused() -> None:
    """Arrays of another type are an error, without conversion."""
    content = artifact.load(dump(_fit(_scattered())), KIND, VERSION)
    anchors = {"neighbours.anchors": np.zeros((480, DIMS), np.float32)}

    with pytest.raises(ArtifactError, match="anchors holds"):
        load(artifact.dump(content.header, {**content.arrays, **anchors}))
