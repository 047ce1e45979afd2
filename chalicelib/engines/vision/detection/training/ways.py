"""The ways in which a model may answer, and answers for pictures of a training in one of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chalicelib.engines.vision.detection.inference.second_look import answer
from chalicelib.engines.vision.detection.training.stage_2_crops import CROP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chalicelib.engines.vision.detection.evaluation.evaluator import DetectionEvaluator
    from chalicelib.engines.vision.detection.head.crop_head import CropHead
    from chalicelib.engines.vision.detection.inference.decoding import Candidates, DetectedObjects
    from chalicelib.engines.vision.detection.training.context import DetectionContext
    from chalicelib.engines.vision.detection.views.maps import Maps


@dataclass(frozen=True)
class AnswerWay:
    """How pictures are answered; the plain way looks once at the picture as it is."""

    is_mirrored: bool = False
    """Whether the head is asked about the mirror image, too."""
    crop_head: CropHead | None = None
    """Classifies boxes a second time; None without a second look."""


# One look at the picture as it is.
PLAIN = AnswerWay()
# Roughly what an answer costs whose features are there, in seconds of one core.
VIEW_SECONDS = 0.02
# Roughly what a mirror image costs, its features with it.
MIRROR_SECONDS = 0.13
# Roughly what the second look at a picture costs.
CROPS_SECONDS = 10 * CROP_SECONDS


def found_objects(
    context: DetectionContext,
    evaluator: DetectionEvaluator,
    places: Sequence[int],
    way_of: Callable[[int], AnswerWay],
) -> list[DetectedObjects]:
    """Answer for pictures of a training as a model would.

    Args:
        context: of the training.
        evaluator: holds the head.
        places: of the pictures.
        way_of: how a picture is answered, by its place.

    Returns:
        The objects of each picture.
    """

    def mirrored(place: int) -> Maps | None:
        return context.mirrored_maps(place) if way_of(place).is_mirrored else None

    def choose(place: int, candidates: Candidates) -> DetectedObjects:
        return answer(
            candidates,
            context.rules,
            way_of(place).crop_head,
            context.backbones,
            lambda side: context.data.open_picture(place, side),
        )

    found = evaluator.candidates(places, mirrored)
    with ThreadPoolExecutor(max(1, context.options.threads)) as pool:
        return list(pool.map(choose, places, found))
