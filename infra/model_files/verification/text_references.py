"""Checks converted encoders against vectors of the makers' own code for fixed texts.

The vectors lie in text_references.json as float16: the Universal Sentence Encoder's come from the
package's own forward pass, all-MiniLM-L6-v2's from its unquantised graph. Those of
all-mpnet-base-v2 and multilingual-e5-small come from the same weights in torch 2.13.0 with
transformers 5.23.0 (MPNetModel, BertModel): the mean of the last states of one text at a time,
stripped, behind "query: " for the latter, cut to 128 tokens. bge-small-en-v1.5's come from a plain
computation in numpy with the weights of its package: the first of the last states.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chalicelib.domain.common.arrays import Singles
from chalicelib.engines.text.encoding.interface import Encoder
from infra.model_files.errors import WrongVectors

FILE = Path(__file__).with_name("text_references.json")


@dataclass(frozen=True)
class Floor:
    """Least cosine with the reference vectors, on average and for the worst text."""

    mean: float
    worst: float


EXACT = Floor(mean=0.999, worst=0.999)
"""For a graph that computes the same numbers."""
QUANTISED = Floor(mean=0.985, worst=0.97)
"""For 8-bit weights; the worst of the reference texts are the non-English ones."""


def reference_texts() -> list[str]:
    """Return the fixed texts: all ten languages, one letter, an emoji, a long one."""
    texts: list[str] = json.loads(FILE.read_text(encoding="utf-8"))["texts"]
    return texts


def reference_vectors(name: str) -> Singles:
    """Return an encoder's vectors for the fixed texts, float32, shape (texts, dimensions)."""
    text = json.loads(FILE.read_text(encoding="utf-8"))["vectors"][name]
    values = np.frombuffer(base64.b64decode(text), "<f2").astype(np.float32)
    vectors = values.reshape(len(reference_texts()), -1)
    scaled: Singles = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def cosines(encoder: Encoder, reference: str) -> Singles:
    """Return the cosine of each fixed text's vector with its reference, shape (texts,)."""
    products: Singles = encoder.encode(reference_texts()) * reference_vectors(reference)
    found: Singles = products.sum(axis=1)
    return found


def check_vectors(encoder: Encoder, reference: str, floor: Floor) -> None:
    """Compare an encoder with its reference vectors.

    Raises:
        WrongVectors: the cosine is below the floor; also when a value is not a number.
    """
    found = cosines(encoder, reference)
    mean, worst = float(found.mean()), float(found.min())
    if not (mean >= floor.mean and worst >= floor.worst):
        raise WrongVectors(
            f"The converted encoder {reference} gives other vectors than it should (cosine "
            f"{mean:.4f} on average, {worst:.4f} at worst). Check that the packages installed "
            "are those of requirements.txt and requirements-dev.txt."
        )
