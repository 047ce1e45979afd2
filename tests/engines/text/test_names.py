"""Prototypes from label names, few examples and unlabelled texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from chalicelib.engines.interface import TextFitOptions
from chalicelib.engines.text.classifier import dump, load
from chalicelib.engines.text.names import fit
from chalicelib.engines.text.names.fit import fit_names
from chalicelib.engines.text.names.prototypes import (
    NAME_EXAMPLES,
    LabelledVectors,
    fit_prototypes,
    name_weight,
)
from chalicelib.engines.text.names.refining import fit_weights, held_out_products
from chalicelib.engines.text.names.space import unit_rows
from tests.engines.text.clusters import a_training_set

EAST, NORTH = [1.0, 0.0], [0.0, 1.0]


def _vectors(features, labels, unlabelled=()) -> LabelledVectors:
    return LabelledVectors(
        names=np.array([EAST, NORTH]),
        features=np.array(features, np.float64).reshape(-1, 2),
        labels=np.array(labels, np.int64),
        unlabelled=np.array(unlabelled, np.float64).reshape(-1, 2),
        scale=40.0,
    )


def test_names_alone_are_the_prototypes():
    """Without texts each prototype is its name's vector."""
    assert fit_prototypes(_vectors([], [])).tolist() == [EAST, NORTH]
    assert fit_weights(_vectors([], [])).tolist() == [EAST, NORTH]
    assert held_out_products(_vectors([], []))[0].shape == (0, 2)


def test_one_example_shows_no_spread():
    """A single example moves the prototype by the default weight."""
    found = fit_prototypes(_vectors([NORTH], [0]))
    length = (NAME_EXAMPLES**2 + 1) ** 0.5
    assert found[0] == pytest.approx([NAME_EXAMPLES / length, 1 / length])


@pytest.mark.parametrize(("noise", "gap", "is_more"), [(0.5, 0.05, True), (0.05, 0.5, False)])
def test_names_count_more_when_examples_vary_more(noise, gap, is_more):
    """The weight of names rises with the spread of examples and falls with names' distance."""
    dice = np.random.default_rng(0)
    labels = np.repeat(np.arange(12), 4)
    names = unit_rows(dice.normal(size=(12, 16)))
    means = names + gap * dice.normal(size=names.shape)
    features = unit_rows(means[labels] + noise * dice.normal(size=(48, 16)))
    assert (name_weight(names, features, labels) > NAME_EXAMPLES) is is_more


def test_names_of_varied_examples_count_more_although_means_are_short():
    """Short means of varied examples do not count as distance from the name."""
    dice = np.random.default_rng(0)
    labels = np.repeat(np.arange(12), 5)
    names = unit_rows(dice.normal(size=(12, 16)))
    features = unit_rows(names[labels] + 0.7 * dice.normal(size=(60, 16)))
    assert name_weight(names, features, labels) > 2 * NAME_EXAMPLES


def test_single_examples_show_how_varied_texts_are():
    """With one example each, names weigh more if examples are further apart."""
    dice = np.random.default_rng(0)
    labels = np.arange(40)
    names = unit_rows(dice.normal(size=(40, 16)))
    near, far = (unit_rows(names + noise * dice.normal(size=names.shape)) for noise in (0.1, 0.6))
    assert name_weight(names, far, labels) > 2 * name_weight(names, near, labels)


def test_equal_names_have_a_weight():
    """Equal names get a finite weight."""
    dice = np.random.default_rng(0)
    features = unit_rows(dice.normal(size=(12, 16)))
    names = np.repeat(features[:1], 3, axis=0)
    assert 0 < name_weight(names, features, np.repeat(np.arange(3), 4)) < 10


def test_refined_weights_move_towards_wrongly_answered_examples():
    """Refined weights move towards examples that prototypes answer wrongly."""
    near = np.array([[0.8, 0.6]] * 2)
    given = _vectors([[1.0, 0.0]] * 4 + [[0.0, 1.0]] * 4 + near.tolist(), [0] * 4 + [1] * 6)
    cosines = near @ fit_prototypes(given).T
    products = near @ fit_weights(given).T
    assert cosines.argmax(axis=1).tolist() == [0, 0]
    assert (products[:, 1] - products[:, 0] > cosines[:, 1] - cosines[:, 0] + 0.05).all()


def test_an_example_is_judged_without_itself():
    """A label's only example is compared with the name alone, and is not tested."""
    products, is_tested = held_out_products(_vectors([NORTH, EAST, EAST], [0, 1, 1]))
    assert products[0, 0] == pytest.approx(0.0, abs=1e-6)
    assert is_tested.tolist() == [False, True, True]


def test_only_labels_with_two_examples_are_tested():
    """Only labels with two examples are tested; all are trained on."""
    examples = a_training_set([4, 4, 1], with_phrases=True)
    report = fit_names(examples, {}, TextFitOptions(), lambda epoch: None).report

    assert report is not None
    assert (report.training_examples, report.test_examples) == (9, 8)
    assert [sum(row) for row in report.metrics.confusion_matrix] == [4, 4, 0]
    assert set(report.out_of_fold.truth) == {0, 1}


def test_unlabelled_texts_attract_the_nearest_label():
    """An unlabelled text moves the nearest prototype and no other."""
    near = [[0.8, 0.6]] * 30
    moved = fit_prototypes(_vectors([], [], near))
    assert moved[0][1] > 0.1
    assert moved[1] == pytest.approx(NORTH, abs=0.05)


def test_the_model_is_stored_and_answers():
    """Names alone answer most texts of clusters, also after storage."""
    examples = a_training_set([30, 30, 30], with_phrases=True)
    nothing = replace(
        examples,
        blocks={name: block[:0] for name, block in examples.blocks.items()},
        label_indexes=examples.label_indexes[:0],
        digests=[],
    )
    trained = fit_names(nothing, {}, TextFitOptions(), lambda epoch: None)
    shares = load(dump(trained)).predict(examples.blocks)

    assert (shares.argmax(axis=1) == examples.label_indexes).mean() > 0.8
    assert trained.report is not None
    assert trained.report.test_examples == 0


def test_two_names_alone_are_no_certainty():
    """The logits of two names are halved, because these are opposite to each other."""
    examples = a_training_set([30, 30], with_phrases=True)
    nothing = replace(
        examples,
        blocks={name: block[:0] for name, block in examples.blocks.items()},
        label_indexes=examples.label_indexes[:0],
        digests=[],
    )

    def spread(factor: float) -> float:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fit, "_SCALE_OF_TWO_NAMES", factor)
            found = fit_names(nothing, {}, TextFitOptions(), lambda epoch: None)
        return float(np.ptp(found.logits(examples.blocks), axis=1).mean())

    assert fit._SCALE_OF_TWO_NAMES == 0.5
    assert spread(0.5) == pytest.approx(0.5 * spread(1.0), rel=1e-3)


def test_a_rate_needs_texts_to_reject_any():
    """Names alone never reject; with unlabelled texts there is a threshold for the rate."""
    examples = a_training_set([100, 100], with_phrases=True)
    nothing = replace(
        examples,
        blocks={name: block[:0] for name, block in examples.blocks.items()},
        label_indexes=examples.label_indexes[:0],
        digests=[],
    )
    options = TextFitOptions(out_of_domain_rate=0.1)
    alone = fit_names(nothing, {}, options, lambda epoch: None)
    given = fit_names(nothing, examples.blocks, options, lambda epoch: None)

    assert not alone.rejects(examples.blocks).any()
    assert 0.05 < given.rejects(examples.blocks).mean() < 0.15
