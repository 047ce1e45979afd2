"""Answers for one picture: the head's candidates, with or without a second look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.engines.vision.detection.answering.finder import Candidates, Found, choose
from chalicelib.engines.vision.detection.answering.rescoring import SecondLook, distinct, looked_at
from chalicelib.engines.vision.detection.views.crops import LEAST_SIDE, describe_crops

if TYPE_CHECKING:
    from collections.abc import Callable

    from chalicelib.domain.documents.picture import Picture
    from chalicelib.engines.vision.backbone.pool import BackbonePool
    from chalicelib.engines.vision.detection.head.crop_head import CropHead
    from chalicelib.engines.vision.detection.training.algorithms import Rules


def look_again(
    candidates: Candidates,
    head: CropHead,
    backbones: BackbonePool,
    open_picture: Callable[[int], Picture],
) -> Candidates:
    """Weigh the labels of a picture's candidates anew.

    Args:
        candidates: of the head.
        head: tells crops apart.
        backbones: the frozen networks.
        open_picture: decodes the picture, keeping so many pixels on the shorter side; called
            only when there is something to look at.

    Returns:
        Distinct candidates with new scores.
    """
    once = distinct(candidates)
    boxes = looked_at(once)
    if not len(boxes):
        return once
    rows = describe_crops(backbones, open_picture(LEAST_SIDE), boxes)
    return SecondLook(head).apply(once, rows)


def answer(
    candidates: Candidates,
    rules: Rules,
    head: CropHead | None,
    backbones: BackbonePool,
    open_picture: Callable[[int], Picture],
) -> Found:
    """Choose the objects of a picture, after a second look where there is a head for it."""
    if head is not None:
        candidates = look_again(candidates, head, backbones, open_picture)
    return choose(candidates, rules)
