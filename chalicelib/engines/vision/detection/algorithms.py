"""The rules of the two algorithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chalicelib.engines.vision.detection.views.views import ImageView, augmented_view, tiled_views

if TYPE_CHECKING:
    from collections.abc import Sequence

# Answers with a lower probability are left out, as they are nearly always wrong.
FLOOR = 0.05


@dataclass(frozen=True)
class Rules:
    """The settings of one algorithm."""

    algorithm: str
    """Name in the API."""
    is_tiled: bool
    """Whether images are also seen in tiles."""
    radius: float
    """Radius in cells around a box's centre in which cells must predict the box."""
    least_share: float
    """Fraction of a box that a view must show for the box to be trained on."""
    most_overlap: float
    """Largest intersection over union of two returned boxes of a label."""
    decay: float | None
    """Decay of scores that overlap a better box of the label; None in older models."""
    most_boxes: int
    """Maximum number of returned boxes of an image."""
    views_an_epoch: int
    """Views of each image in one epoch."""
    has_crops: bool
    """Whether the second look at crops is available."""
    # Not with tiles: they overlap, so every part is already seen several times.
    has_mirror: bool
    """Whether answers can include the mirror image."""

    def training_view(self, width: int, height: int, digest: bytes, number: int) -> ImageView:
        """Return the part of an image of this size that a numbered view shows."""
        return (
            tiled_views(width, height)[number] if self.is_tiled else augmented_view(digest, number)
        )

    def answered_views(self, width: int, height: int) -> Sequence[ImageView]:
        """Return the numbers of the views that a prediction uses, from 0."""
        return tiled_views(width, height) if self.is_tiled else [ImageView()]


# The algorithms by name.
RULES = {
    rules.algorithm: rules
    for rules in (
        Rules("object-detection", False, 1.5, 0.4, 0.5, 0.3, 100, 1, True, True),
        Rules("retail-execution", True, 1.0, 0.6, 0.6, 0.3, 500, 4, False, False),
    )
}


def rules_of(algorithm: str) -> Rules:
    """Return the rules of an algorithm, by default object-detection; ValueError if unknown."""
    rules = RULES.get(algorithm or "object-detection")
    if rules is None:
        raise ValueError(f"There is no detection algorithm {algorithm!r}.")
    return rules
