"""Reads the background texts: examples of out-of-domain texts that ship with Presage.

The texts were written for this project: questions, chat, commands, news, reviews. A model may
answer `[]` for out-of-domain texts. The training of such a model uses the background texts to find
the limits of the model's domain (chalicelib/engines/text/head/domain.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.text.head.anchors import mean_vector, unit_vectors

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Floats, Ints

# One text per line; lines that begin with # are headings.
TEXTS = Path(__file__).parents[2] / "assets" / "background" / "texts.txt"
# Minimum number of background texts for fitting the boundary of the domain.
FEWEST_TEXTS = 20
# Number of examples from which the usual similarity of in-domain texts is measured.
_COMPARED_EXAMPLES = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class BackgroundFolds:
    """Features of background texts (out-of-domain examples), and the fold of each text.

    When a fold of the examples is held out, the background texts with the same fold number are
    held out, too.
    """

    features: Floats
    """Scaled features of the background texts, float, shape (texts, dims)."""
    folds: Ints
    """Index of the fold to which each background text belongs, int, shape (texts,)."""


def background_texts() -> list[str]:
    """Return the background texts; skip headings and empty lines of their file."""
    lines = TEXTS.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def assign_background(background: Floats, examples: Floats, folds: int) -> BackgroundFolds | None:
    """Assign background texts to folds; leave out background texts that resemble the examples.

    Args:
        background: features of the background texts, float, shape (texts, dims).
        examples: features of the examples, float, shape (examples, dims).
        folds: number of folds.

    Returns:
        The features and folds of the remaining texts; None if they are fewer than `FEWEST_TEXTS`.
    """
    features = background[~_resembles(background, examples)]
    if len(features) < FEWEST_TEXTS:
        return None
    return BackgroundFolds(features, np.arange(len(features)) % folds)


def _resembles(background: Floats, examples: Floats) -> Bools:
    centre = mean_vector(background)
    step = -(-len(examples) // _COMPARED_EXAMPLES)
    units = unit_vectors(examples[::step], centre)
    alike = units @ units.T
    np.fill_diagonal(alike, -1.0)
    # Texts this near to an example are left out: otherwise a weather model would learn to reject
    # questions about the weather.
    usual = np.median(alike.max(axis=1))
    return np.asarray((unit_vectors(background, centre) @ units.T).max(1) > usual)
