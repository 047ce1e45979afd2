"""Artifacts of type image-multi-label: calibrated answers, and damaged ones are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chalicelib.engines import artifact
from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.vision.backbone.pool import LITE2, BackbonePool
from chalicelib.engines.vision.multi_label.calibration import SigmoidCalibration, fit_calibration
from chalicelib.engines.vision.multi_label.classifier import (
    KIND,
    VERSION,
    MultiLabelHeader,
    dump,
    load,
)
from chalicelib.engines.vision.multi_label.extractor import MultiLabelExtractor
from chalicelib.engines.vision.multi_label.standardizing import EMBEDDING
from tests.engines.vision.drawn import draw

POOL = BackbonePool(Path(__file__).parents[4] / ".models")


def _content(**header: object) -> bytes:
    served = {
        "present": np.array([2, 0]),
        "mean": np.zeros(1280, np.float32),
        "scale": np.ones(1280, np.float32),
        "values": np.zeros((1281, 2)),
        "shifts": np.log([1.0, 3.0]),
    }
    written = dump(MultiLabelHeader(["a", "b", "c"], EMBEDDING, 2.0, {LITE2: "ab"}), served)
    read = artifact.load(written, KIND, VERSION)
    return artifact.dump({**read.header, **header}, read.arrays)


def test_probabilities_are_shifted_and_tempered() -> None:
    """A score of 0 is one half without weights, and less if the loss favoured the label."""
    shares = load(_content(), POOL).probabilities(np.ones(1280))

    expected = 1 / (1 + 3**0.5)
    assert [pytest.approx(expected), 0.0, 0.5] == shares.tolist()


def test_a_judgement_covers_every_label() -> None:
    """The uncertainty is that of all labels, treated as independent."""
    model = load(_content(), POOL)
    found, shares = model.judgement(np.ones(1280)), model.probabilities(np.ones(1280))
    right = np.prod([max(share, 1 - share) for share in shares])
    assert found.uncertainty == pytest.approx(1 - right)
    assert found.label == model.labels[int(shares.argmax())]
    assert (found.probability, found.likeness) == (shares.max(), shares.max())
    assert found.vector.shape == (128,)


@pytest.mark.parametrize(
    "header",
    [{"temperature": -1.0}, {"features": "pooled"}, {"features": "none"}, {"labels": ["a"]}],
)
def test_wrong_headers_are_refused(header: dict[str, object]) -> None:
    """Missing or inconsistent header parts raise ArtifactError."""
    with pytest.raises(ArtifactError):
        load(_content(**header), POOL)


@pytest.mark.parametrize("name", ["values", "shifts", "mean", "present"])
def test_missing_and_wrong_arrays_are_refused(name: str) -> None:
    """Missing arrays, or arrays of another shape, raise ArtifactError."""
    read = artifact.load(_content(), KIND, VERSION)
    without = {other: array for other, array in read.arrays.items() if other != name}

    for arrays in (without, {**without, name: np.zeros(7)}):
        with pytest.raises(ArtifactError):
            load(artifact.dump(read.header, arrays), POOL)


def test_the_temperature_undoes_too_sure_scores() -> None:
    """Scores four times too large get a temperature of about four; without data it is one."""
    generator = np.random.default_rng(0)
    honest = generator.normal(size=(4_000, 2))
    truth = generator.random((4_000, 2)) < 1 / (1 + np.exp(-honest))

    assert pytest.approx(fit_calibration(np.ones(2), honest * 4, truth).temperature, rel=0.2) == 4.0
    assert fit_calibration(np.ones(2), honest[:0], truth[:0]).temperature == 1.0


def test_shares_of_extreme_scores_are_numbers() -> None:
    """Extreme scores give finite probabilities."""
    shares = SigmoidCalibration(np.zeros(2)).shares(np.array([[1e4, -1e4]]))

    np.testing.assert_allclose([[1.0, 0.0]], shares, atol=1e-12)


def test_features_are_repeatable_and_the_embedding_is_their_first_part() -> None:
    """Features are repeatable, and the embedding is their first part."""
    extractor = MultiLabelExtractor(POOL)
    image = draw("stripes", 3, (520, 430))

    whole = extractor.extract(image, b"x" * 16, 0)

    assert (np.float16, (2992,)) == (whole.dtype, whole.shape)
    assert extractor.row_bytes == whole.nbytes
    assert np.isfinite(whole).all()
    np.testing.assert_array_equal(whole[:1280], extractor.embedding(image))
    np.testing.assert_array_equal(whole, extractor.extract(image, b"", 0))
    assert (whole != extractor.extract(image, b"x" * 16, 1)).any()
