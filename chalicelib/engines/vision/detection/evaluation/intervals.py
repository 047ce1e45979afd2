"""How sure the mean average precision is: resampled pictures.

Source: Efron 1979, the bootstrap, percentile interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.interface import Interval
from chalicelib.engines.vision.detection.evaluation.average_precision import (
    mean_average_precision,
    qualities,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.engines.vision.detection.evaluation.average_precision import Judged

LEVEL = 0.95
"""Level of the interval."""
_ROUNDS, _FEWEST_ROUNDS = 200, 40
_MOST_ANSWERS = 20_000_000
"""Answers that are looked at in all rounds together, about ten seconds of work."""
_FEWEST = 2


def bootstrap_interval(judged: Sequence[Judged], labels: int, seed: int) -> Interval | None:
    """Interval of the mean average precision over the held-out pictures.

    Args:
        judged: held-out pictures.
        labels: how many labels there are.
        seed: of the draws.

    Returns:
        The value and the 2.5 % and 97.5 % quantiles of 200 resamplings, or of
        fewer, at least 40, where there are very many answers; None when fewer than two
        pictures were held out.
    """
    value = mean_average_precision(qualities(judged, labels))
    if value is None or len(judged) < _FEWEST:
        return None
    generator = np.random.Generator(np.random.PCG64([seed, 3]))
    draws = []
    answers = sum(len(part.scores) for part in judged)
    for _ in range(max(_FEWEST_ROUNDS, min(_ROUNDS, _MOST_ANSWERS // max(1, answers)))):
        drawn = generator.integers(0, len(judged), len(judged))
        mean = mean_average_precision(qualities([judged[index] for index in drawn], labels))
        if mean is not None:
            draws.append(mean)
    low, high = np.quantile(draws, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0])
    return Interval(value, float(low), float(high))
