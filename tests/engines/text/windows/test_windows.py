"""Windows of long texts: their weights are learned and stored with the model."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.interface import TextFitOptions, TextTrainingSet
from chalicelib.engines.text.classifier import TrainedText, dump, load
from chalicelib.engines.text.fit import fit
from chalicelib.engines.text.windows.attention import (
    WindowReading,
    join_windows,
    read_texts,
    window_weights,
)
from chalicelib.engines.text.windows.fitting import FEWEST_LONG_TEXTS, fit_reading
from tests.engines.text.clusters import a_training_set

DIMS, LABELS, WINDOWS = 16, 4, 6
GENERATOR = np.random.default_rng(3)
CENTRES = GENERATOR.standard_normal((LABELS, DIMS))


def _late(texts: int, seed: int) -> tuple[np.ndarray, list[int], np.ndarray]:
    """Return texts of six windows, of which only the last shows the label."""
    generator = np.random.default_rng(seed)
    labels = np.arange(texts) % LABELS
    windows = generator.standard_normal((texts, WINDOWS, DIMS))
    windows[:, -1] = CENTRES[labels] + 0.5 * generator.standard_normal((texts, DIMS))
    windows /= np.linalg.norm(windows, axis=2, keepdims=True)
    ends = [WINDOWS * (number + 1) for number in range(texts)]
    return windows.reshape(-1, DIMS).astype(np.float32), ends, labels


def _trained(texts: int = 160) -> tuple[TrainedText, np.ndarray]:
    """Train a model on such texts; return it and the weights of its training windows."""
    windows, ends, labels = _late(texts, 1)
    fitted = fit_reading(lambda first, last: windows[first:last], ends, labels, LABELS, "tiny")
    joined = join_windows(lambda first, last: windows[first:last], fitted.weights, ends)
    examples = TextTrainingSet(
        blocks={"tiny": joined},
        label_indexes=labels,
        label_names=[f"label {number}" for number in range(LABELS)],
        digests=[sha256(str(number).encode()).digest() for number in range(texts)],
        encoder_digests={"tiny": "0" * 64},
        reading=fitted.reading,
    )
    return fit(examples, TextFitOptions(), lambda epoch: None), fitted.weights


def _right(model: TrainedText) -> float:
    """Return the accuracy on other such texts."""
    windows, _, labels = _late(80, 2)
    answers = []
    for first in range(0, len(windows), WINDOWS):
        rows = {"tiny": windows[first : first + WINDOWS]}
        weights = window_weights(model.window_relevance(rows), [WINDOWS])
        joined = join_windows(lambda a, b, r=rows: r["tiny"][a:b], weights, [WINDOWS])
        answers.append(int(model.predict({"tiny": joined})[0].argmax()))
    return float((np.array(answers) == labels).mean())


def test_evidence_in_one_late_window_is_found() -> None:
    """A label that shows in one of six windows is learned, unlike with the mean of all."""
    model, weights = _trained()

    assert weights.reshape(-1, WINDOWS)[:, -1].mean() > 0.7
    assert _right(model) > 0.85
    stored = load(dump(model))
    assert _right(stored) == _right(model)
    assert dump(model) == dump(_trained()[0])


def test_few_long_texts_teach_nothing_about_windows() -> None:
    """Below twenty long texts all windows have equal weight."""
    windows, ends, labels = _late(FEWEST_LONG_TEXTS - 1, 1)

    fitted = fit_reading(lambda first, last: windows[first:last], ends, labels, LABELS, "tiny")

    assert fitted.reading == WindowReading() or fitted.reading.attention is None
    np.testing.assert_allclose(fitted.weights, 1 / WINDOWS, atol=1e-3)


def test_a_short_text_keeps_its_vector() -> None:
    """A text of one window has the same vector, also next to long texts."""
    encoded: list[str] = []

    def encode(texts: list[str]) -> dict[str, np.ndarray]:
        encoded.extend(texts)
        return {"tiny": np.array([[len(text), 1 / 3] for text in texts], np.float32)}

    long = "One sentence of some words follows another one. " * 40
    alone = read_texts(["short"], encode, lambda blocks: np.zeros(len(blocks["tiny"])))
    both = read_texts(["short", long], encode, lambda blocks: np.zeros(len(blocks["tiny"])))

    np.testing.assert_array_equal(alone["tiny"], both["tiny"][:1])
    assert both["tiny"].shape == (2, 2)
    # Equal windows are encoded once.
    assert len(encoded) == 3


def test_older_artifacts_read_no_windows() -> None:
    """A model without window weights encodes texts whole."""
    examples = a_training_set([20, 20], dims=(12,))
    older = fit(examples, TextFitOptions(), lambda epoch: None)
    newer = fit(replace(examples, reading=WindowReading()), TextFitOptions(), lambda epoch: None)
    seen: list[str] = []

    def encode(texts: list[str]) -> dict[str, np.ndarray]:
        seen.extend(texts)
        return {"encoder0": np.ones((len(texts), 12), np.float32)}

    long = "word " * 300
    load(dump(older)).read([long], encode)
    assert seen == [long]
    seen.clear()
    load(dump(newer)).read([long], encode)
    assert len(seen) >= 1
    assert all(len(text) < 300 for text in seen)


@pytest.mark.parametrize("change", [{"norm": 0.0}, {"norm": float("nan")}, {"encoder": "other"}])
def test_damaged_windows_are_refused(change: dict[str, object]) -> None:
    """Windows that do not fit the encoders raise ArtifactError."""
    model, _ = _trained(80)
    reading = model.parameters.windows
    assert reading is not None
    assert reading.attention is not None
    broken = replace(reading, attention=replace(reading.attention, **change))
    parameters = replace(model.parameters, windows=broken)

    with pytest.raises(ArtifactError, match="windows"):
        load(dump(TrainedText(parameters)))
