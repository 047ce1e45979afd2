"""Prebuilt models use the network's own labels; every artifact has a reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chalicelib.engines import artifact
from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.vision.backbone.pool import LITE2, NANODET, BackbonePool
from chalicelib.engines.vision.prebuilt import KIND, VERSION
from chalicelib.engines.vision.registry import load
from tests.engines.vision.drawn import draw

POOL = BackbonePool(Path(__file__).parents[3] / ".models")


def _content(**header: object) -> bytes:
    members = {
        "kind": KIND,
        "version": VERSION,
        "model": "Some",
        "type": "image",
        "backbone": LITE2,
        "backbone_sha256": "ab",
        "labels": ["x", "y", "z"],
        **header,
    }
    return artifact.dump(members, {"indexes": np.array([5, 900, 17])})


def test_chosen_labels_are_renormalised() -> None:
    """Selected labels keep their proportions, and their probabilities sum to 1."""
    image = draw("circle", 1)
    some = {one.label: one.probability for one in load(_content(), POOL).predict(image)}
    all_labels = [f"n{place}" for place in range(1_000)]
    content = artifact.dump(
        {**artifact.load(_content(), KIND, VERSION).header, "labels": all_labels},
        {"indexes": np.arange(1_000)},
    )

    whole = {one.label: one.probability for one in load(content, POOL).predict(image)}

    assert 1.0 == pytest.approx(sum(some.values())) == pytest.approx(sum(whole.values()))
    assert some["x"] / some["y"] == pytest.approx(whole["n5"] / whole["n900"])
    assert some["z"] / some["y"] == pytest.approx(whole["n17"] / whole["n900"])


def test_multi_label_answers_are_the_greatest_scores() -> None:
    """Multi-label answers are the highest scores, each between 0 and 1, in order."""
    content = artifact.dump(
        {
            **artifact.load(_content(), KIND, VERSION).header,
            "type": "image-multi-label",
            "backbone": NANODET,
            "labels": [f"c{place}" for place in range(80)],
        },
        {"indexes": np.arange(80)},
    )
    model = load(content, POOL)

    answer = model.predict(draw("circle", 1))

    shares = [one.probability for one in answer]
    assert (model.type, model.least_side, len(answer)) == ("image-multi-label", 416, 80)
    assert sorted(shares, reverse=True) == shares
    assert 0 <= shares[-1] <= shares[0] <= 1
    assert [(use.name, use.sha256) for use in model.backbones] == [(NANODET, "ab")]


@pytest.mark.parametrize(
    "header",
    [
        {"backbone": NANODET},
        {"type": "image-detection"},
        {"labels": ["x"]},
        {"labels": []},
        {"version": 2},
        {"kind": "text"},
        {"type": "image-multi-label", "backbone": NANODET},
    ],
)
def test_wrong_artifacts_are_refused(header: dict[str, object]) -> None:
    """An artifact of another kind, version, network or index is refused."""
    with pytest.raises(ArtifactError):
        load(_content(**header), POOL)


@pytest.mark.parametrize("content", [b"", b"PK nonsense", b"\x00" * 100])
def test_bytes_of_no_artifact_are_refused(content: bytes) -> None:
    """Foreign bytes raise ArtifactError."""
    with pytest.raises(ArtifactError):
        load(content, POOL)
