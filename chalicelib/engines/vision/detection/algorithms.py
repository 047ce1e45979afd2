"""What the two algorithms do differently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chalicelib.engines.vision.detection.views.views import PictureView, augmented_view, tiled_views

if TYPE_CHECKING:
    from collections.abc import Sequence

# Answers below this probability are left out.
FLOOR = 0.05


@dataclass(frozen=True)
class Rules:
    """Choices of one algorithm."""

    algorithm: str
    """Its name in the API."""
    is_tiled: bool
    """Whether pictures are also looked at in tiles."""
    radius: float
    """Cells around a box's centre that have to find it."""
    least_share: float
    """Fraction of a box that a view must show for the box to be trained on."""
    most_overlap: float
    """Intersection over union up to which two answers of a label both stay."""
    decay: float | None
    """How gently an answer loses score by overlapping a better one of its label; None for not at
    all, as in models that were trained before answers did."""
    most_boxes: int
    """Answers for one picture."""
    views_an_epoch: int
    """Views of each picture that one epoch learns from."""
    has_crops: bool
    """Whether a second look at each crop may be switched on."""
    has_mirror: bool
    """Whether answering from the mirror image, too, may be switched on; tiles overlap, so what is
    looked at in tiles is seen several times as it is."""

    def training_view(self, width: int, height: int, digest: bytes, number: int) -> PictureView:
        """What a numbered view of a picture of this size shows."""
        return (
            tiled_views(width, height)[number] if self.is_tiled else augmented_view(digest, number)
        )

    def answered_views(self, width: int, height: int) -> Sequence[PictureView]:
        """The views that an answer is made from; their numbers are 0, 1, ..."""
        return tiled_views(width, height) if self.is_tiled else [PictureView()]


# The algorithms by name.
RULES = {
    rules.algorithm: rules
    for rules in (
        Rules("object-detection", False, 1.5, 0.4, 0.5, 0.3, 100, 1, True, True),
        Rules("retail-execution", True, 1.0, 0.6, 0.6, 0.3, 500, 4, False, False),
    )
}


def rules_of(algorithm: str) -> Rules:
    """Rules of an algorithm; those of object-detection for the empty name.

    Raises:
        ValueError: there is no such algorithm.
    """
    rules = RULES.get(algorithm or "object-detection")
    if rules is None:
        raise ValueError(f"There is no detection algorithm {algorithm!r}.")
    return rules
