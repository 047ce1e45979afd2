"""Makes the vectors of texts and of label names comparable.

Label names are short, so their vectors are far from the vectors of texts. Both kinds of vectors are
shifted to the same centre. The vectors of each encoder are then divided by the spread of the
vectors of label names.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chalicelib.domain.common.arrays import Doubles, Floats, Singles
    from chalicelib.engines.interface import Blocks

# Phrases with a label's name; their mean vector is more reliable than that of the name alone.
_PHRASES = ("{}", "This text is about {}.", "topic: {}")
# The background texts are chat, and mostly English: texts of a domain resemble them in part only.
_BACKGROUND_PART = 0.75
# Number of in-domain texts that the background texts count as.
_BACKGROUND_TEXTS = 20.0
# With this many examples, texts are centred by half. Chosen on training texts of BANKING77 and
# SIB-200, validation texts of CLINC150, test texts of SST-3, and a dataset of 150 service requests.
_CENTRED_EXAMPLES = 60.0
# Every fourth background text gives nearly the same mean in a quarter of the time.
BACKGROUND_STEP = 4
# Minimum spread, so that vectors of names with the same meaning stay finite.
_LEAST_NORM = 0.1
_SMALLEST = 1e-9


def unit_rows(vectors: Floats) -> Doubles:
    """Scale rows to unit length; return float64, shape (n, dims). Rows of zeros do not change."""
    wide = np.asarray(vectors, np.float64)
    lengths = np.sqrt(np.add.reduce(wide * wide, axis=1, keepdims=True))
    return np.asarray(wide / np.maximum(lengths, _SMALLEST))


@dataclass(frozen=True, slots=True, eq=False)
class LabelSpace:
    """The centre and the scale of each encoder's vectors; encoders are sorted by name."""

    means: Singles
    """Mean to subtract from the vectors of texts, float32, shape (dims of all encoders,)."""
    norms: tuple[float, ...]
    """Number by which the centred vectors of each encoder are divided."""
    names: Doubles
    """Vectors of label names, centred and scaled, float64, shape (labels, dims of all encoders)."""

    @property
    def spread(self) -> float:
        """Return the root mean square distance of the names' unit vectors from their mean."""
        units = unit_rows(self.names)
        units -= _mean(units)
        return max(_length_of(units), _LEAST_NORM)

    def place(self, blocks: Blocks) -> Doubles:
        """Centre, scale and join text vectors; return float64, (texts, dims of all encoders)."""
        vectors = _joined(blocks, sorted(blocks)) - self.means
        dims = [blocks[name].shape[1] for name in sorted(blocks)]
        return np.asarray(vectors / np.repeat(self.norms, dims))


def name_vectors(phrases: Sequence[str], embed: Callable[[Sequence[str]], Singles]) -> Singles:
    """Return the unit vectors of label names, float32, shape (labels, dims).

    Args:
        phrases: label names, written as words.
        embed: returns the vectors of texts, float32, shape (texts, dims).
    """
    total = sum(embed([form.format(phrase) for phrase in phrases]) for form in _PHRASES)
    return np.asarray(unit_rows(np.asarray(total, np.float32)), np.float32)


def fit_space(
    label_blocks: Blocks, examples: Blocks, unlabelled: Blocks, background: Blocks
) -> LabelSpace:
    """Compute the centre and the scale of each encoder's vectors for a training.

    Args:
        label_blocks: for each encoder, vectors of label names, float32, shape (labels, dims).
        examples: for each encoder, vectors of texts with labels; may have no rows.
        unlabelled: vectors of texts without labels; empty if there are none.
        background: vectors of the out-of-domain texts that ship with Presage; may be empty.
    """
    encoders = sorted(label_blocks)
    names = _joined(label_blocks, encoders)
    names -= _mean(names)
    norms, first = [], 0
    for encoder in encoders:
        last = first + label_blocks[encoder].shape[1]
        part = names[:, first:last]
        spread = _length_of(part)
        # All encoders together have the weight of one.
        norms.append(max(spread, _LEAST_NORM) * len(encoders) ** 0.5)
        part /= norms[-1]
        first = last
    texts = [blocks for blocks in (examples, unlabelled) if blocks]
    means = np.concatenate([_text_mean(encoder, texts, background) for encoder in encoders])
    # Some names are nearer than others to all texts, unless texts are centred. With more examples,
    # which are texts themselves, this matters less.
    part_of_mean = _CENTRED_EXAMPLES / (_CENTRED_EXAMPLES + len(examples[encoders[0]]))
    space = LabelSpace((part_of_mean * means).astype(np.float32), tuple(norms), names)
    dims = [label_blocks[encoder].shape[1] for encoder in encoders]
    return replace(space, names=names + (1.0 - part_of_mean) * means / np.repeat(space.norms, dims))


def _text_mean(encoder: str, texts: Sequence[Blocks], background: Blocks) -> Doubles:
    """Return the mean vector of texts; all background texts together have a fixed weight."""
    given = np.concatenate([blocks[encoder] for blocks in texts]).astype(np.float64)
    total, count = np.add.reduce(given, axis=0), float(len(given))
    if background:
        others = _BACKGROUND_PART * _mean(background[encoder].astype(np.float64))
        total, count = total + _BACKGROUND_TEXTS * others, count + _BACKGROUND_TEXTS
    return np.asarray(total / max(count, 1.0))


def _length_of(vectors: Doubles) -> float:
    return math.sqrt(np.add.reduce((vectors * vectors).ravel()) / len(vectors))


def _mean(vectors: Doubles) -> Doubles:
    return np.asarray(np.add.reduce(vectors, axis=0) / len(vectors))


def _joined(blocks: Blocks, encoders: Sequence[str]) -> Doubles:
    return np.concatenate([blocks[name].astype(np.float64) for name in encoders], axis=1)
