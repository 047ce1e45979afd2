"""Artifacts of type image: equal parameters give equal bytes, and damaged ones are refused."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np
import pytest

from chalicelib.engines import artifact
from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.vision.backbone.pool import LITE2, BackbonePool
from chalicelib.engines.vision.classification.classifier import KIND, VERSION, dump, load
from chalicelib.engines.vision.classification.extractor import WHOLE, ClassificationExtractor
from chalicelib.engines.vision.interface import JudgingVision
from tests.engines.vision.drawn import draw

POOL = BackbonePool(Path(__file__).parents[4] / ".models")


def _served(known: int = 2) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(0)
    whitening = np.triu(generator.integers(-900, 900, (1280, 1280))).astype(np.int16)
    return {
        "mean": np.full(1280, 0.02, np.float32),
        "whitening": whitening,
        "values": generator.normal(size=(1281, known)),
    }


def _content(**header: object) -> bytes:
    written = dump(["a", "b", "c"], np.array([0, 2]), _served(), 0.5, {LITE2: "ab"})
    read = artifact.load(written, KIND, VERSION)
    return artifact.dump({**read.header, **header}, read.arrays)


def test_equal_parameters_give_equal_bytes() -> None:
    """A model's digest identifies its parameters."""
    assert _content() == _content()


def test_a_model_answers_with_probabilities_of_all_labels() -> None:
    """Probabilities sum to 1; an untrained label has 0; the backbone is named."""
    model = load(_content(), POOL)

    shares = model.probabilities(np.abs(np.random.default_rng(1).normal(size=1280)))

    assert pytest.approx(shares.sum()) == 1.0
    assert shares[1] == 0.0
    assert [(use.name, use.sha256) for use in model.backbones] == [(LITE2, "ab")]


def test_a_judgement_is_what_the_answer_says() -> None:
    """A judgement has top label, remaining uncertainty, and a short vector of length one."""
    model = load(_content(), POOL)
    embedding = np.abs(np.random.default_rng(1).normal(size=1280))

    found, shares = model.judgement(embedding), model.probabilities(embedding)

    assert found.label == model.labels[int(shares.argmax())]
    assert found.probability == shares.max()
    assert found.uncertainty == pytest.approx(1 - shares.max())
    assert math.isfinite(found.likeness)
    assert np.linalg.norm(found.vector.astype(float)) == pytest.approx(1, abs=2e-3)
    assert isinstance(model, JudgingVision)


def test_a_model_of_before_sees_the_whole_picture_alone() -> None:
    """Version 1 artifacts use one view, and their answers differ from those with two."""
    before = _content(version=1, preprocessing={"side": 320})
    image = draw("circle", 1)
    extractor = ClassificationExtractor(POOL)

    old, new = load(before, POOL), load(_content(), POOL)

    whole = old.probabilities(extractor.extract(image, b"", 0, [WHOLE]))
    both = new.probabilities(extractor.extract(image, b"", 0))
    assert {one.label: one.probability for one in old.predict(image)} == dict(
        zip(old.labels, whole, strict=True)
    )
    assert new.predict(image)[0].probability == both.max()
    assert not np.allclose(whole, both)


def test_a_picture_without_any_activation_is_answered() -> None:
    """A zero feature vector is answered without a division by zero."""
    assert np.isfinite(load(_content(), POOL).probabilities(np.zeros(1280))).all()


def test_loading_takes_milliseconds() -> None:
    """Loading takes well below a tenth of a second."""
    content = _content()

    def seconds() -> float:
        start = time.process_time()
        load(content, POOL)
        return time.process_time() - start

    assert min(seconds() for _ in range(5)) < 0.1


@pytest.mark.parametrize(
    "header",
    [
        {"temperature": 0.0},
        {"temperature": "warm"},
        {"temperature": float("nan")},
        {"labels": ["a"]},
        {"labels": 3},
        {"backbones": ["lite2"]},
        {"preprocessing": {"looks": []}},
        {"preprocessing": {"looks": [[0.0, 320]]}},
        {"preprocessing": {"looks": [["wide", 320]]}},
    ],
)
def test_wrong_headers_are_refused(header: dict[str, object]) -> None:
    """Missing or inconsistent header parts raise ArtifactError."""
    with pytest.raises(ArtifactError):
        load(_content(**header), POOL)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("weights", np.zeros((1280, 3), np.float32)),
        ("biases", np.full(2, np.nan, np.float32)),
        ("present", np.array([0, 5])),
        ("whitening", np.zeros((4, 4), np.int16)),
    ],
)
def test_wrong_arrays_are_refused(name: str, array: np.ndarray) -> None:
    """Arrays of inconsistent shape, or with values that are not finite, raise ArtifactError."""
    read = artifact.load(_content(), KIND, VERSION)

    with pytest.raises(ArtifactError):
        load(artifact.dump(read.header, {**read.arrays, name: array}), POOL)


def test_a_missing_array_is_refused() -> None:
    """An artifact without weights raises ArtifactError."""
    read = artifact.load(_content(), KIND, VERSION)
    del read.arrays["weights"]

    with pytest.raises(ArtifactError, match="lacks a part"):
        load(artifact.dump(read.header, read.arrays), POOL)
