"""The settings of the algorithms `object-detection` and `retail-execution`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.engines.vision.detection.views.views import ImageView, augmented_view, tiled_views

# Minimum probability of returned boxes; boxes below it are nearly always wrong.
FLOOR = 0.05


@dataclass(frozen=True)
class Rules:
    """The settings of one detection algorithm."""

    algorithm: str
    """Name of the algorithm in the API."""
    is_tiled: bool
    """Whether tiles of the image are also used as views."""
    radius: float
    """Distance from a box's centre, in cells, within which a cell must learn to predict the box."""
    least_share: float
    """Fraction of a box's area that a view must show for the box to be used in training."""
    most_overlap: float
    """Largest intersection over union of two returned boxes of the same label."""
    decay: float | None
    """Constant of Soft-NMS; a smaller one lowers overlapping scores more. None in older models."""
    most_boxes: int
    """Maximum number of boxes returned for an image."""
    views_an_epoch: int
    """Number of views of each image in one epoch."""
    has_crops: bool
    """Whether detected boxes can be cropped and classified again (second look)."""
    # Tiled images are not mirrored: their tiles overlap, so every part is already in several views.
    has_mirror: bool
    """Whether predictions can also use the mirror image."""

    def training_view(self, width: int, height: int, digest: bytes, number: int) -> ImageView:
        """Return the view `number` of an image, as a training uses it."""
        return (
            tiled_views(width, height)[number] if self.is_tiled else augmented_view(digest, number)
        )

    def answered_views(self, width: int, height: int) -> Sequence[ImageView]:
        """Return the views of an image that a prediction uses."""
        return tiled_views(width, height) if self.is_tiled else [ImageView()]


RULES = {
    rules.algorithm: rules
    for rules in (
        Rules("object-detection", False, 1.5, 0.4, 0.5, 0.3, 100, 1, True, True),
        Rules("retail-execution", True, 1.0, 0.6, 0.6, 0.3, 500, 4, False, False),
    )
}


def rules_of(algorithm: str) -> Rules:
    """Return the settings of an algorithm.

    Args:
        algorithm: name of the algorithm in the API; an empty name means object-detection.

    Raises:
        ValueError: the algorithm is unknown.
    """
    rules = RULES.get(algorithm or "object-detection")
    if rules is None:
        raise ValueError(f"There is no detection algorithm {algorithm!r}.")
    return rules
