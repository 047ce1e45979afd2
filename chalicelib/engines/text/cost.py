"""Estimates how many examples a training can use, and how long it takes."""

from __future__ import annotations

from chalicelib.engines.arithmetic import EXACT_EXAMPLES

# Maximum number of feature values of all examples: one gigabyte as float32.
MOST_NUMBERS = 250_000_000
# Examples x dims x labels that one function can train in its time.
MOST_WORK = 60_000_000_000
# This many examples are always used. The number of labels is limited, so the work is too.
LEAST_EXAMPLES = 30_000
_PLAIN_SECONDS, _EXACT_SECONDS = 12e-9, 40e-9
_FIXED_SECONDS = 10.0


def most_examples(dims: int, labels: int) -> int:
    """Return how many examples a training can use in limited memory and time, at least 30,000.

    Args:
        dims: sum of the lengths of all encoders' vectors.
        labels: number of labels.
    """
    fitting = min(MOST_NUMBERS // dims, MOST_WORK // (dims * labels))
    return max(LEAST_EXAMPLES, fitting)


def expected_seconds(examples: int, dims: int, labels: int) -> float:
    """Estimate the seconds that a fit on two processors takes at most.

    Args:
        examples: number of examples.
        dims: sum of the lengths of all encoders' vectors.
        labels: number of labels.
    """
    factor = _EXACT_SECONDS if examples <= EXACT_EXAMPLES else _PLAIN_SECONDS
    return _FIXED_SECONDS + factor * examples * dims * labels
