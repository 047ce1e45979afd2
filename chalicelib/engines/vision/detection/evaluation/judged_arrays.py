"""Judged pictures to arrays and back, so that an evaluation survives its process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.vision.detection.evaluation.average_precision import Judged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Array = npt.NDArray[Any]


def judged_arrays(judged: Sequence[Judged], count: int) -> dict[str, Array]:
    """Put pictures into arrays.

    Args:
        judged: of each picture.
        count: how many labels there are.

    Returns:
        Arrays that `judged_of` reads.
    """
    nothing = Judged(np.empty(0, np.int64), np.empty(0), np.empty(0, bool), np.empty(0, np.int64))
    return {
        "answers": np.array([len(part.labels) for part in judged], np.int64),
        "labels": np.concatenate([part.labels for part in (nothing, *judged)]),
        "scores": np.concatenate([part.scores for part in (nothing, *judged)]),
        "is_right": np.concatenate([part.is_right for part in (nothing, *judged)]),
        "truths": np.array([part.truths for part in judged], np.int64).reshape(-1, count),
    }


def judged_of(arrays: Mapping[str, Array]) -> list[Judged]:
    """Read what `judged_arrays` wrote."""
    ends = np.cumsum(arrays["answers"])[:-1]
    labels, scores, is_right = (
        np.split(arrays[name], ends) for name in ("labels", "scores", "is_right")
    )
    truths = arrays["truths"]
    return [
        Judged(labels[index], scores[index], is_right[index], truths[index])
        for index in range(len(truths))
    ]


def prefixed(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    """Write a prefix and a dot before every name."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def with_prefix(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    """Read the arrays whose names begin with a prefix and a dot, without it."""
    start = f"{prefix}."
    return {
        name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)
    }
