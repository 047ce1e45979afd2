"""The vector space in which texts are compared with label names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from chalicelib.engines.interface import TextFitOptions
from chalicelib.engines.text.names.fit import fit_names
from chalicelib.engines.text.names.space import fit_space, name_vectors
from tests.engines.text.clusters import a_training_set

NAMES = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)


def test_a_shift_that_all_texts_share_changes_no_answer():
    """A shift common to all texts does not change the answers."""
    examples = a_training_set([40, 40, 40], with_phrases=True)
    names = examples.label_blocks or {}
    # Towards one name, so that all texts get its label without the centring.
    shifted = {name: block + 2 * names[name][0] for name, block in examples.blocks.items()}
    nothing = replace(
        examples,
        blocks={name: block[:0] for name, block in examples.blocks.items()},
        label_indexes=examples.label_indexes[:0],
        digests=[],
    )
    model = fit_names(
        replace(nothing, background=shifted),
        shifted,
        TextFitOptions(),
        lambda epoch: None,
    )

    assert (model.predict(shifted).argmax(axis=1) == examples.label_indexes).mean() > 0.8


def test_encoders_count_by_how_they_set_names_apart():
    """Encoders are scaled so that near and distant names have equal weight."""
    near = NAMES * 0.5 + 0.5
    both = {"far": NAMES, "near": near}
    space = fit_space(both, {"far": NAMES[:0], "near": near[:0]}, both, {})

    assert space.norms[0] == pytest.approx(2 * space.norms[1])
    placed = space.place(both)
    assert placed[:, :2] == pytest.approx(placed[:, 2:])


def test_few_texts_are_centred_by_the_background_too():
    """With few texts the centre is mainly that of the background."""
    background, none = {"one": np.zeros((5, 2), np.float32)}, {"one": NAMES[:0]}
    found = [
        fit_space({"one": NAMES}, none, {"one": np.ones((count, 2), np.float32)}, background)
        for count in (0, 20, 2_000)
    ]
    assert [space.means[0] for space in found] == pytest.approx([0.0, 0.5, 0.99], abs=0.001)


def test_examples_are_centred_less():
    """With many examples less of their mean is subtracted."""
    some = {"one": np.ones((60, 2), np.float32)}
    space = fit_space({"one": NAMES}, some, {}, {})

    assert space.means == pytest.approx([0.5, 0.5])
    kept = 0.5 / space.norms[0]
    assert space.names.mean(axis=0) == pytest.approx([kept, kept])
    assert space.place(some) == pytest.approx(np.full((60, 2), kept))


def test_equal_names_stay_finite():
    """Labels with equal vectors get equal, finite answers."""
    same = {"one": np.ones((2, 2), np.float32)}
    placed = fit_space(same, same, {}, {}).place({"one": NAMES})
    assert np.isfinite(placed).all()


def test_a_name_is_read_in_several_phrases():
    """A label's vector is the normalized mean of its phrases."""
    seen: list[str] = []

    def embed(texts):
        seen.extend(texts)
        return np.array([[3.0, 4.0]] * len(texts), np.float32)

    vectors = name_vectors(["travel"], embed)
    assert vectors == pytest.approx(np.array([[0.6, 0.8]]))
    assert seen == ["travel", "This text is about travel.", "topic: travel"]
