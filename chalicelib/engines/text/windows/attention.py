"""Weights the windows of each long text, and averages their vectors to one vector per text.

The weight of a window depends on the odds that it contains evidence for any label. The head of a
model reads one vector per text, so it treats short and long texts alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.domain.datasets.windows import split_texts
from chalicelib.engines.artifact import Artifact, ArtifactError, strip_prefix
from chalicelib.engines.calibration import energies

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Array, Doubles, Floats, Halves, Ints, Singles

    Blocks = Mapping[str, Singles]

# Prefix of the array names in an artifact.
PREFIX = "windows"
_CHUNK_WINDOWS = 4_096
# Weights are multiples of 1/4096.
_STEPS = 4_096.0


@dataclass(frozen=True, slots=True, eq=False)
class WindowAttention:
    """A linear classifier of windows, with one class per label and one for background windows."""

    encoder: str
    """Name of the encoder whose vectors determine the weights."""
    weights: Halves
    """Weights for scaled vectors, float16, shape (dims, labels + 1)."""
    biases: Singles
    """Biases, float32, shape (labels + 1,)."""
    mean: Singles
    """Mean of the windows' vectors, float32, shape (dims,)."""
    norm: float
    """Root mean square length of the centred vectors."""

    def relevance(self, vectors: Floats) -> Doubles:
        """Return the log-odds, float64, (windows,), that each window is evidence for any label.

        Args:
            vectors: vectors of the windows, shape (windows, dims).
        """
        features = (vectors.astype(np.float64) - self.mean) / self.norm
        scores = features @ self.weights.astype(np.float64) + self.biases
        return relevance_of(scores)


@dataclass(frozen=True, slots=True, eq=False)
class WindowReading:
    """How a model encodes long texts. Models without this record encode the first 128 tokens."""

    attention: WindowAttention | None = None
    """Model that weights the windows; None if the training had no long text.

    If it is None, the confidence of the text model weights the windows.
    """


def relevance_of(scores: Floats) -> Doubles:
    """Return the log-odds, shape (windows,), that each window is evidence for any label.

    Args:
        scores: logits, shape (windows, labels + 1); the last column is the background class.
    """
    return np.asarray(energies(scores[:, :-1], 1.0) - scores[:, -1], np.float64)


def window_weights(relevance: Doubles, ends: Sequence[int]) -> Doubles:
    """Return the weight of each window in its text; the weights of a text sum to about 1.

    Args:
        relevance: log-odds of every window, float64, shape (windows,).
        ends: for each text, the index after its last window.
    """
    starts = np.concatenate([[0], np.asarray(ends[:-1], np.int64)])
    texts = np.repeat(np.arange(len(ends)), np.diff(np.concatenate([starts, [ends[-1]]])))
    shares = np.exp(relevance - np.maximum.reduceat(relevance, starts)[texts])
    # Rounded to fixed steps, so that the last bits of the relevance do not change the vectors.
    return np.asarray(np.rint(shares / np.add.reduceat(shares, starts)[texts] * _STEPS) / _STEPS)


def even_weights(ends: Sequence[int]) -> Doubles:
    """Return equal weights for the windows of each text, float64, shape (windows,).

    Args:
        ends: for each text, the index after its last window.
    """
    bounds = np.array([0, *ends], np.int64)
    counts: Ints = bounds[1:] - bounds[:-1]
    return np.asarray(np.repeat(1.0 / counts, counts), np.float64)


def join_windows(
    rows: Callable[[int, int], Floats], weights: Doubles, ends: Sequence[int]
) -> Singles:
    """Return, for each text, the weighted mean of its windows' vectors, float32, (texts, dims).

    Args:
        rows: returns the vectors, float, shape (windows, dims), of a range of windows.
        weights: result of `window_weights`, float64, shape (windows,).
        ends: for each text, the index after its last window.
    """
    bounds = [0, *ends]
    parts, text = [], 0
    while text < len(ends):
        # Whole texts of about as many windows as fit in a few megabytes.
        last = max(text + 1, int(np.searchsorted(ends, bounds[text] + _CHUNK_WINDOWS)))
        first_window, last_window = bounds[text], bounds[last]
        part = rows(first_window, last_window) * weights[first_window:last_window, None]
        parts.append(np.add.reduceat(part, np.array(bounds[text:last]) - first_window, axis=0))
        text = last
    return np.concatenate(parts).astype(np.float32)


def read_texts(
    texts: Sequence[str],
    encode: Callable[[Sequence[str]], Blocks],
    relevance: Callable[[Blocks], Doubles],
) -> Blocks:
    """Return, for each encoder, the vectors of texts, float32, shape (texts, dims).

    Args:
        texts: texts of any length.
        encode: returns, for each encoder, the vectors of short texts.
        relevance: returns, for each window of a text, the log-odds that it is evidence for a label.
    """
    split = split_texts(texts)
    if not split.has_long:
        return encode(split.windows)
    # Variants of one text, from which an explanation removes words, share most windows.
    places = {window: place for place, window in enumerate(dict.fromkeys(split.windows))}
    rows = [places[window] for window in split.windows]
    blocks = {name: block[rows] for name, block in encode(list(places)).items()}
    joined: dict[str, list[Singles]] = {name: [] for name in blocks}
    for first, last in zip([0, *split.ends], split.ends, strict=False):
        # One text at a time, so that other texts of the call do not change the last bit.
        own = {name: block[first:last] for name, block in blocks.items()}
        if last - first > 1:
            own = join_blocks(own, relevance(own))
        for name, block in own.items():
            joined[name].append(block)
    return {name: np.concatenate(rows) for name, rows in joined.items()}


def join_blocks(blocks: Blocks, relevance: Doubles) -> dict[str, Singles]:
    """Join the window vectors of one text to one vector for each encoder.

    Args:
        blocks: for each encoder, the vectors of the windows, shape (windows, dims).
        relevance: log-odds of each window, float64, shape (windows,).

    Returns:
        For each encoder, the vector of the text, shape (1, dims).
    """
    count = len(relevance)
    weights = window_weights(relevance, [count])
    return {
        name: join_windows(partial(_slice, block), weights, [count])
        for name, block in blocks.items()
    }


def _slice(block: Floats, first: int, last: int) -> Floats:
    return block[first:last]


def header(reading: WindowReading) -> dict[str, Any]:
    """Return the members of the artifact's JSON header that describe a `WindowReading`."""
    attention = reading.attention
    if attention is None:
        return {"attention": None}
    return {"attention": attention.encoder, "norm": attention.norm}


def arrays(reading: WindowReading) -> dict[str, Array]:
    """Return the arrays of a `WindowReading` by name, for the artifact."""
    one = reading.attention
    if one is None:
        return {}
    return {"weights": one.weights, "biases": one.biases, "mean": one.mean}


def read(content: Artifact) -> WindowReading:
    """Read the `WindowReading` of an artifact.

    Raises:
        KeyError: a header member or an array is missing.
        TypeError: an array has the wrong type.
    """
    numbers: Mapping[str, Any] = content.header[PREFIX]
    if numbers["attention"] is None:
        return WindowReading()
    found = strip_prefix(PREFIX, content.arrays)
    if found["weights"].dtype != np.float16:
        raise TypeError(f"the windows' weights are {found['weights'].dtype}, not float16")
    return WindowReading(
        WindowAttention(
            str(numbers["attention"]),
            found["weights"],
            found["biases"].astype(np.float32, copy=False),
            found["mean"].astype(np.float32, copy=False),
            float(numbers["norm"]),
        )
    )


def check(reading: WindowReading, dims: Mapping[str, int]) -> None:
    """Raise ArtifactError if the shapes of the arrays contradict each other or `dims`.

    Args:
        reading: the settings that `read` returned.
        dims: length of the vectors of each encoder.
    """
    one = reading.attention
    if one is None:
        return
    width = dims.get(one.encoder, -1)
    is_whole = one.weights.ndim == 2 and one.weights.shape[0] == width
    if not is_whole or one.biases.shape != one.weights.shape[1:] or one.mean.shape != (width,):
        raise ArtifactError("The artifact's windows and encoders do not fit together.")
    parts = (one.weights, one.biases, one.mean, np.float64(one.norm))
    if one.weights.shape[1] < 2 or not all(np.isfinite(part).all() for part in parts):
        raise ArtifactError("The artifact's windows hold numbers that are not finite.")
    if not one.norm > 0:
        raise ArtifactError("The scale of the artifact's windows is not positive.")
