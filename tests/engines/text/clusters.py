"""Makes embedded examples without encoders: one cluster of unit vectors per label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

import numpy as np

from chalicelib.engines.interface import TextTrainingSet


def a_training_set(
    counts: Sequence[int],
    *,
    dims: Sequence[int] = (12, 8),
    spread: float = 0.6,
    seed: int = 0,
    with_phrases: bool = False,
) -> TextTrainingSet:
    """Draw examples around one centre per label, in shuffled order."""
    generator = np.random.default_rng(seed)
    labels = generator.permutation(np.repeat(np.arange(len(counts)), counts))
    blocks, phrases = {}, {}
    for place, size in enumerate(dims):
        centres = generator.standard_normal((len(counts), size))
        cloud = centres[labels] + spread * generator.standard_normal((len(labels), size))
        name = f"encoder{place}"
        blocks[name] = _unit(cloud)
        phrases[name] = _unit(centres)
    return TextTrainingSet(
        blocks=blocks,
        label_indexes=labels,
        label_names=[f"{word}_order" for word in _words(len(counts))],
        digests=[sha256(f"{seed} {number}".encode()).digest() for number in range(len(labels))],
        label_blocks=phrases if with_phrases else None,
    )


def with_background(examples: TextTrainingSet, count: int = 60) -> TextTrainingSet:
    """Add background texts at random positions."""
    generator = np.random.default_rng(7)
    background = {
        name: _unit(generator.standard_normal((count, block.shape[1])))
        for name, block in examples.blocks.items()
    }
    return replace(examples, background=background)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def _words(count: int) -> list[str]:
    return ["".join("abcdefghij"[int(digit)] for digit in f"{n:03d}") for n in range(count)]
