"""Minimises a smooth convex function of a flat vector (limited-memory BFGS in numpy).

The optimiser is a generator. It yields after each iteration, so the caller can stop it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Floats

    Objective = Callable[[Floats], tuple[float, Floats]]
    Rounding = Callable[[Floats], Floats]

_MEMORY = 10
_SUFFICIENT_DECREASE = 1e-4
_LONGEST_BACKTRACKING = 20
_FIRST_MOVE = 10.0


@dataclass(frozen=True, slots=True)
class Step:
    """The state after an iteration: a point, and the function's value and gradient there."""

    values: Floats
    """Coordinates of the point, float, shape (parameters,)."""
    loss: float
    gradient: Floats
    """Gradient at the point, float, shape (parameters,)."""


class _Memory:
    """The last steps and gradient changes, from which the curvature is approximated."""

    def __init__(self) -> None:
        self._pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=_MEMORY)

    def put(self, move: Floats, change: Floats) -> None:
        """Store a step and the gradient's change along it, if the curvature is positive."""
        curvature = dot(move, change)
        if curvature > 1e-10 * dot(change, change):
            self._pairs.append((move, change, 1.0 / curvature))

    def is_empty(self) -> bool:
        return not self._pairs

    def clear(self) -> None:
        self._pairs.clear()

    def direction(self, gradient: Floats) -> Floats:
        """Compute the descent direction, float, shape (parameters,), by the two-loop recursion.

        Source: Nocedal and Wright, Numerical Optimization, algorithm 7.4.
        """
        result = -gradient
        shares: list[float] = []
        for move, change, inverse in reversed(self._pairs):
            share = inverse * dot(move, result)
            result -= share * change
            shares.append(share)
        if self._pairs:
            _, change, inverse = self._pairs[-1]
            result *= 1.0 / (inverse * dot(change, change))
        for (move, change, inverse), share in zip(self._pairs, reversed(shares), strict=True):
            result += (share - inverse * dot(change, result)) * move
        return result


def dot(left: Floats, right: Floats) -> float:
    """Return the inner product of two vectors, shape (n,); the order of operations is fixed."""
    return float(np.add.reduce(left * right))


def minimise(objective: Objective, start: Floats, rounding: Rounding) -> Iterator[Step]:
    """Yield the state at `start` and after each iteration, until no step reduces the function.

    Args:
        objective: returns the value and the gradient, float, shape (parameters,), at a point.
        start: first point, float, shape (parameters,).
        rounding: rounds a new point in place.
    """
    loss, gradient = objective(start)
    here = Step(start, loss, gradient)
    memory = _Memory()
    yield here
    while True:
        there = _next_step(objective, here, memory, rounding)
        if there is None and not memory.is_empty():
            # Outdated curvature may give an ascent direction; steepest descent may still reduce
            # the value.
            memory.clear()
            there = _next_step(objective, here, memory, rounding)
        if there is None:
            return
        memory.put(there.values - here.values, there.gradient - here.gradient)
        here = there
        yield here


def _next_step(
    objective: Objective, here: Step, memory: _Memory, rounding: Rounding
) -> Step | None:
    direction = memory.direction(here.gradient)
    slope = dot(direction, here.gradient)
    if not slope < 0.0:
        return None
    length = 1.0 if not memory.is_empty() else _first_length(here.gradient)
    for _ in range(_LONGEST_BACKTRACKING):
        values = rounding(here.values + here.values.dtype.type(length) * direction)
        loss, gradient = objective(values)
        if loss < here.loss + _SUFFICIENT_DECREASE * length * slope:
            return Step(values, loss, gradient)
        length *= _shorter(here.loss, loss, slope * length)
    return None


def _first_length(gradient: Floats) -> float:
    # Without curvature the first step has a fixed length.
    return _FIRST_MOVE / max(float(np.sqrt(dot(gradient, gradient))), 1e-30)


def _shorter(loss: float, new_loss: float, slope: float) -> float:
    rise = new_loss - loss - slope
    if not np.isfinite(rise) or rise <= 0.0:
        return 0.5
    # The minimum of the parabola through both values, limited to a safe range.
    return min(0.5, max(0.1, -slope / (2.0 * rise)))
