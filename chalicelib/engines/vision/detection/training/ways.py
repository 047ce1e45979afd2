"""Detection methods (ways), and their use on images of a training."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chalicelib.engines.vision.detection.inference.decoding import merged
from chalicelib.engines.vision.detection.inference.second_look import answer
from chalicelib.engines.vision.detection.training.stage_2_crops import CROP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chalicelib.engines.vision.detection.evaluation.evaluator import DetectionEvaluator
    from chalicelib.engines.vision.detection.head.crop_head import CropHead
    from chalicelib.engines.vision.detection.inference.decoding import Candidates, DetectedObjects
    from chalicelib.engines.vision.detection.proposals.head import ProposalHead
    from chalicelib.engines.vision.detection.proposals.network import Proposals
    from chalicelib.engines.vision.detection.training.context import DetectionContext
    from chalicelib.engines.vision.detection.views.maps import Maps


@dataclass(frozen=True)
class AnswerWay:
    """A detection method. By default, the dense head runs once on each image."""

    is_mirrored: bool = False
    """Whether the dense head also uses the mirror image."""
    crop_head: CropHead | None = None
    """Head that classifies crops of detected boxes again; None if boxes keep their labels."""
    proposal_head: ProposalHead | None = None
    """Head that labels proposed boxes; None if proposals are not used."""
    is_dense: bool = True
    """Whether the dense head is used."""


# The dense head, used once for each image.
PLAIN = AnswerWay()
# Approximate cost of a prediction with stored features, in seconds of one core.
VIEW_SECONDS = 0.02
# Approximate cost of a mirror image, including its features.
MIRROR_SECONDS = 0.13
# Approximate cost of the second look at an image.
CROPS_SECONDS = 10 * CROP_SECONDS


def found_objects(
    context: DetectionContext,
    evaluator: DetectionEvaluator,
    places: Sequence[int],
    way_of: Callable[[int], AnswerWay],
    propose: Callable[[Sequence[int]], Sequence[Proposals]],
) -> list[DetectedObjects]:
    """Detect objects in training images, in the same way as a finished model.

    Args:
        context: images and options of the training.
        evaluator: runs the dense head.
        places: indexes of the images.
        way_of: returns the detection method for an image, given the index of the image.
        propose: returns the proposed boxes of images, in the order of the given indexes. It is
            called with the images for which `way_of` returns a method with a proposal head.
    """

    def mirrored(place: int) -> Maps | None:
        return context.mirrored_maps(place) if way_of(place).is_mirrored else None

    def choose(place: int, candidates: Sequence[Candidates]) -> DetectedObjects:
        return answer(
            merged(candidates),
            context.rules,
            way_of(place).crop_head,
            context.backbones,
            lambda side: context.data.open_picture(place, side),
        )

    dense = [place for place in places if way_of(place).is_dense]
    parts: dict[int, list[Candidates]] = {place: [] for place in places}
    for place, candidates in zip(dense, evaluator.candidates(dense, mirrored), strict=True):
        parts[place].append(candidates)
    heads = {place: head for place in places if (head := way_of(place).proposal_head)}
    for place, proposals in zip(heads, propose(list(heads)), strict=True):
        parts[place].append(heads[place].candidates(proposals))
    with ThreadPoolExecutor(max(1, context.options.threads)) as pool:
        return list(pool.map(choose, places, parts.values()))
