"""Computes the probability of each character at each position of a row of known length.

Uses the forward-backward algorithm of connectionist temporal classification (Graves et al. 2006,
section 4.1). Here it sums over all texts of the given length, instead of one text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.ocr.mrz.formats import LETTERS, LOOK_ALIKES

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles, Singles
    from chalicelib.engines.ocr.mrz.deciding import Scores

# Minimum probability of a character at a step, because networks are overconfident.
_LEAST = 1e-5
# Minimum probability of a similar character, as a fraction.
_MISTAKEN = 0.02


def row_posteriors(steps: Singles, allowed: Sequence[str]) -> tuple[list[Scores], float] | None:
    """Return the log probability of each character at each position of a row.

    Args:
        steps: probabilities from left to right, shape (steps, 1 + LETTERS): the blank, then each
            character.
        allowed: allowed characters at each position.

    Returns:
        First, for each position, the natural logarithm of the probability of each allowed
        character. Second, a number that is high if the row probably has another length. It is the
        log probability of the best text of any length, minus the log probability of all allowed
        texts of this length, divided by the number of positions. None if no allowed text of this
        length is possible.
    """
    if len(steps) < len(allowed):
        return None
    likely = _with_look_alikes(np.maximum(steps.astype(np.float64), _LEAST))
    mask = np.array([[letter in letters for letter in LETTERS] for letters in allowed], float)
    begun, _, scale = _forward(likely, mask)
    # The same from the right: read backwards, a character that is present at a step continues
    # there.
    _, lasting, scale_back = _forward(likely[::-1], mask[::-1])
    after = lasting[::-1, ::-1] / likely[:, None, 1:]
    weight = scale + scale_back[::-1]
    shares = (begun * after * np.exp(weight - weight.max())[:, None, None]).sum(axis=0)
    totals = shares.sum(axis=1, keepdims=True)
    if not np.isfinite(totals).all() or not totals.all():
        return None
    excess = np.log(likely.max(axis=1)).sum() - weight.max() - np.log(totals[0, 0])
    logs = np.log(np.maximum(shares / totals, np.exp(-30.0)))
    scores: list[Scores] = [
        {letter: float(log) for letter, log in zip(LETTERS, line, strict=True) if letter in letters}
        for line, letters in zip(logs, allowed, strict=True)
    ]
    return scores, float(excess) / len(allowed)


def _with_look_alikes(likely: Doubles) -> Doubles:
    """Increase low probabilities to a fraction of the highest among characters that look alike."""
    shared = likely.copy()
    for group in LOOK_ALIKES:
        columns = [1 + LETTERS.index(letter) for letter in group]
        most = likely[:, columns].max(axis=1, keepdims=True)
        shared[:, columns] = np.maximum(likely[:, columns], _MISTAKEN * most)
    return shared


def _forward(likely: Doubles, mask: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Sum the probabilities of all paths from the left.

    Args:
        likely: shape (steps, 1 + LETTERS).
        mask: 1 for allowed characters at a position, shape (places, LETTERS).

    Returns:
        Three arrays: the scaled probability that a position's character begins at a step, and that
        it is present at the step, both of shape (steps, places, LETTERS); and the cumulative
        logarithm of the scale of each step, shape (steps,).
    """
    begun = np.empty((len(likely), *mask.shape))
    lasting = np.empty_like(begun)
    scales = np.empty(len(likely))
    standing = np.zeros_like(mask)
    waiting = np.zeros(len(mask))
    waiting[0] = 1.0
    for step, probabilities in enumerate(likely):
        totals = standing.sum(axis=1)
        enter = np.repeat(waiting[:, None], mask.shape[1], axis=1)
        # A character that is repeated needs a blank in between.
        enter[1:] += np.maximum(totals[:-1, None] - standing[:-1], 0.0)
        begun[step] = enter * mask * probabilities[1:]
        standing = begun[step] + standing * probabilities[1:]
        waiting[1:] += totals[:-1]
        waiting *= probabilities[0]
        scale = max(standing.sum() + waiting.sum(), np.finfo(float).tiny)
        standing, waiting = standing / scale, waiting / scale
        begun[step] /= scale
        lasting[step] = standing
        scales[step] = scale
    return begun, lasting, np.log(scales).cumsum()
