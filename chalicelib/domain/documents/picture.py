"""A decoded picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Picture:
    """Pixels of a picture as displayed, possibly reduced in size."""

    pixels: npt.NDArray[np.uint8]
    """RGB, uint8, shape (height, width, 3); origin at the top left."""
    width: int
    """Width of the whole picture as displayed, in pixels; boxes refer to it."""
    height: int
    """Height of the whole picture as displayed, in pixels."""
