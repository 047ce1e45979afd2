"""Splits the training part into folds. Heads trained without a fold predict its images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chalicelib.engines.vision.detection.training.holdout import hold_out_images

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.engines.vision.detection.training.context import DetectionContext

# Number of folds of the training part.
FOLDS = 3
_MOST_PICTURES = 60


@dataclass(frozen=True)
class TrialFold:
    """Indexes of images to train on, and of images in which to detect objects."""

    trained: Sequence[int]
    tested: Sequence[int]


def trial_folds(context: DetectionContext) -> list[TrialFold]:
    """Split the training images into folds; equal image files are in the same fold.

    Folds without images, or with all images, are left out.
    """
    rest, labels = list(context.trained), len(context.labels)
    folds: list[TrialFold] = []
    for number in range(FOLDS - 1):
        pictures = [context.data.pictures.pictures[place] for place in rest]
        share = 1.0 - 1.0 / (FOLDS - number)
        seed = context.options.seed + 1 + number
        held = {rest[index] for index in hold_out_images(pictures, labels, share, seed)}
        folds.append(_fold(context, held))
        rest = [place for place in rest if place not in held]
    folds.append(_fold(context, set(rest)))
    return [fold for fold in folds if fold.trained and fold.tested]


def _fold(context: DetectionContext, held_out: set[int]) -> TrialFold:
    return TrialFold(
        [place for place in context.trained if place not in held_out],
        sorted(held_out)[:_MOST_PICTURES],
    )
