"""AdamW with warm-up, cosine decay and gradient clipping, for one flat parameter vector.

Source: Loshchilov and Hutter 2019, Decoupled Weight Decay Regularization.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
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
    """The state of the optimiser. Vectors are float32, shape (parameters,)."""

    first: Singles
    """Running mean of the gradients."""
    second: Singles
    """Running mean of the squared gradients."""
    steps: int = 0
    # Reused, because new memory for every step costs as much as the arithmetic.
    _buffers: tuple[Singles, Singles] | None = field(default=None, repr=False)

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
        """Take one optimiser step: change `vector` by the gradient, in place.

        Args:
            vector: parameters, changed in place.
            gradient: gradient with respect to the parameters, changed in place.
            decayed: whether each parameter has weight decay, bool, shape (parameters,).
            rate: highest learning rate of the schedule.
            last: number of the last step of the training. Its learning rate is zero.
        """
        self.steps += 1
        work, other = self._buffers = self._buffers or (vector.copy(), vector.copy())
        length = math.sqrt(float(np.add.reduce(np.multiply(gradient, gradient, out=work))))
        if length > _LONGEST:
            # Clipped, because single outliers would undo many steps.
            gradient *= _LONGEST / length
            np.multiply(gradient, gradient, out=work)
        for moment, value, share in zip(
            (self.first, self.second), (gradient, work), _MOMENTS, strict=True
        ):
            moment *= share
            moment += np.multiply(value, 1.0 - share, out=other)
        now = rate * _schedule(self.steps, last)
        # The bias corrections of both moments in one factor.
        scale = math.sqrt(1.0 - _MOMENTS[1] ** self.steps) / (1.0 - _MOMENTS[0] ** self.steps)
        np.multiply(vector, decayed, out=work)
        vector -= np.multiply(work, np.float32(now * _DECAY), out=work)
        np.sqrt(self.second, out=work)
        work += _TINY
        np.multiply(self.first, np.float32(now * scale), out=other)
        vector -= np.divide(other, work, out=other)


def _schedule(step: int, last: int) -> float:
    warm_up = min(_WARM_UP, max(1, last // 4))
    # The moments are unreliable in the first steps, so the rate rises slowly.
    if step <= warm_up:
        return step / warm_up
    share = (step - warm_up) / max(1, last - warm_up)
    return 0.5 * (1.0 + math.cos(math.pi * min(1.0, share)))
