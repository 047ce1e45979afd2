"""Prototypes of label names, few examples and unlabelled texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from chalicelib.engines.interface import TextFitOptions
from chalicelib.engines.text.classifier import dump, load
from chalicelib.engines.text.names.fit import fit_names
from chalicelib.engines.text.names.prototypes import (
    LabelledVectors,
    fit_prototypes,
    held_out_products,
)
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
    """Without texts each prototype is the vector of its name."""
    assert fit_prototypes(_vectors([], [])).tolist() == [EAST, NORTH]
    assert held_out_products(_vectors([], [])).shape == (0, 2)


def test_the_name_counts_as_one_example():
    """One example at a right angle to the name turns the prototype by half of it."""
    found = fit_prototypes(_vectors([NORTH], [0]))
    assert found[0] == pytest.approx([0.5**0.5, 0.5**0.5])


def test_an_example_is_judged_without_itself():
    """The product of the only example of a label is that with the name."""
    assert held_out_products(_vectors([NORTH], [0])) == pytest.approx(np.array([[0.0, 1.0]]))


def test_unlabelled_texts_attract_the_nearest_label():
    """A prototype moves towards texts without labels, and the other one stays."""
    near = [[0.8, 0.6]] * 30
    moved = fit_prototypes(_vectors([], [], near))
    assert moved[0][1] > 0.1
    assert moved[1] == pytest.approx(NORTH, abs=0.05)


def test_the_model_is_stored_and_answers():
    """Names alone answer most texts of clouds, also as the artifact stores them."""
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


def test_a_rate_needs_texts_to_reject_any():
    """Names alone never reject; unlabelled texts give a threshold for the asked rate."""
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
