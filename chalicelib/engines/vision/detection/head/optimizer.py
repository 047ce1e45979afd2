"""AdamW with warm-up, cosine decay and clipped gradients, over one flat vector.

Source: Loshchilov and Hutter 2019, Decoupled Weight Decay Regularization.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Singles


_WARM_UP = 40
_DECAY = 1e-2
_LONGEST = 10.0
_MOMENTS = (0.9, 0.999)
_TINY = 1e-8


@dataclass
class AdamW:
    """The state of the optimiser; vectors are float32, shape (parameters,)."""

    first: Singles
    """Running mean of the gradients."""
    second: Singles
    """Running mean of their squares."""
    steps: int = 0

    @classmethod
    def fresh(cls, parameters: int) -> AdamW:
        """Return the state before the first step."""
        return cls(np.zeros(parameters, np.float32), np.zeros(parameters, np.float32))

    def update(
        self,
        vector: Singles,
        gradient: Singles,
        decayed: Bools,
        rate: float,
        last: int,
    ) -> None:
        """Take one step.

        Args:
            vector: parameters, changed in place.
            gradient: gradient by the parameters, changed in place.
            decayed: parameters with weight decay, bool.
            rate: highest learning rate.
            last: number of the last step, where the rate reaches zero.
        """
        self.steps += 1
        length = math.sqrt(float(np.add.reduce(gradient * gradient)))
        if length > _LONGEST:
            # Clipped, because single outliers would undo many steps.
            gradient *= _LONGEST / length
        for moment, value, share in zip(
            (self.first, self.second), (gradient, gradient * gradient), _MOMENTS, strict=True
        ):
            moment *= share
            moment += (1.0 - share) * value
        now = rate * _schedule(self.steps, last)
        # The bias corrections of both moments in one factor.
        scale = math.sqrt(1.0 - _MOMENTS[1] ** self.steps) / (1.0 - _MOMENTS[0] ** self.steps)
        vector -= np.float32(now * _DECAY) * (vector * decayed)
        vector -= np.float32(now * scale) * self.first / (np.sqrt(self.second) + _TINY)


def _schedule(step: int, last: int) -> float:
    warm_up = min(_WARM_UP, max(1, last // 4))
    # The moments are unreliable in the first steps, so the rate rises slowly.
    if step <= warm_up:
        return step / warm_up
    share = (step - warm_up) / max(1, last - warm_up)
    return 0.5 * (1.0 + math.cos(math.pi * min(1.0, share)))
