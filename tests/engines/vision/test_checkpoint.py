"""Checkpoints of trainings are used only with the data they were saved for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from chalicelib.domain.documents.picture import Box
from chalicelib.domain.models.training_pictures import (
    LabelledBox,
    LabelledPicture,
    TrainingPictures,
)
from chalicelib.engines.vision import checkpoint
from chalicelib.engines.vision.checkpoint import (
    Checkpoint,
    dump_checkpoint,
    fingerprint_of,
    load_checkpoint,
)
from chalicelib.engines.vision.interface import VisionData, VisionOptions
from tests.engines.vision.memory_features import MemoryFeatures
from tests.tiny_vision import TinyExtractor

SAVED = Checkpoint(b"state", 7, 1.5)
OPTIONS = VisionOptions(3, 0.001)


class Drawn:
    """A picture of one colour."""

    width, height = 40, 30
    pixels = np.full((30, 40, 3), 9, np.uint8)


def _data(**changes: Any) -> VisionData:
    """Return two images, one of them with a change."""
    box = LabelledBox(0, Box(1, 2, 3, 4), 8)
    first = LabelledPicture(1, b"a" * 16, "a.png", (0,), (5,))
    second = replace(LabelledPicture(1, b"b" * 16, "b.png", boxes=(box,)), **changes)
    pictures = TrainingPictures(["x", "y"], [first, second], 2)
    digests = [first.digest, second.digest]
    features = MemoryFeatures(TinyExtractor(), [Drawn(), Drawn()], digests)
    return VisionData(pictures, features, lambda *_: None)


def test_state_there_and_back() -> None:
    """A checkpoint is read back with epochs and time, for the same fingerprint only."""
    content = dump_checkpoint(SAVED, "same")

    assert load_checkpoint(content, "same") == SAVED
    assert load_checkpoint(content, "other") is None


@pytest.mark.parametrize("length", [0, 10, 200, -1])
def test_damaged_state(length: int) -> None:
    """A truncated checkpoint is refused."""
    assert load_checkpoint(dump_checkpoint(SAVED, "same")[:length], "same") is None


def test_fingerprint_follows_the_training_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fingerprint depends on examples, options, extractor and version, not on threads."""
    extractor = TinyExtractor()
    same = fingerprint_of(_data(), OPTIONS, extractor)
    box = LabelledBox(0, Box(1, 2, 3, 4), 9)
    others = {
        fingerprint_of(_data(digest=b"c" * 16), OPTIONS, extractor),
        fingerprint_of(_data(boxes=(box,)), OPTIONS, extractor),
        fingerprint_of(_data(example_ids=(6,)), OPTIONS, extractor),
        fingerprint_of(_data(), replace(OPTIONS, epochs=4), extractor),
        fingerprint_of(_data(), OPTIONS, TinyExtractor("other")),
    }
    monkeypatch.setattr(checkpoint, "__version__", "another")
    others.add(fingerprint_of(_data(), OPTIONS, extractor))
    monkeypatch.undo()

    assert len(others | {same}) == 7
    assert fingerprint_of(_data(), replace(OPTIONS, threads=4), extractor) == same
