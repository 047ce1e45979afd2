"""Checks converted encoders against reference vectors of fixed texts.

text_references.json has the vectors as float16. They were computed by:

- Universal Sentence Encoder: the package's own forward pass.
- all-MiniLM-L6-v2: the published graph in full precision.
- all-mpnet-base-v2, multilingual-e5-small: the same weights in torch 2.13.0 with transformers
  5.23.0 (MPNetModel, BertModel). Each text was stripped, cut to 128 tokens and encoded separately,
  for e5 after the prefix "query: ". The vector is the mean of the last states.
- bge-small-en-v1.5: numpy with the package's weights; the first token's last state.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chalicelib.domain.common.arrays import Singles
from chalicelib.engines.text.encoding.interface import Encoder
from infra.model_files.description import WrongVectors

FILE = Path(__file__).with_name("text_references.json")


@dataclass(frozen=True)
class Floor:
    """The lowest accepted cosine with the references, on average and for the worst text."""

    mean: float
    worst: float


EXACT = Floor(mean=0.999, worst=0.999)  # the references are float16
QUANTISED = Floor(mean=0.985, worst=0.97)  # 8-bit weights; the non-English texts are worst


def reference_texts() -> list[str]:
    """Return the fixed texts: ten languages, one letter, an emoji and a long text."""
    texts: list[str] = json.loads(FILE.read_text(encoding="utf-8"))["texts"]
    return texts


def reference_vectors(name: str) -> Singles:
    """Return an encoder's reference vectors: unit vectors, float32, shape (texts, dimensions)."""
    text = json.loads(FILE.read_text(encoding="utf-8"))["vectors"][name]
    values = np.frombuffer(base64.b64decode(text), "<f2").astype(np.float32)
    vectors = values.reshape(len(reference_texts()), -1)
    scaled: Singles = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def cosines(encoder: Encoder, reference: str) -> Singles:
    """Return the cosine of each text's vector with its reference, shape (texts,)."""
    products: Singles = encoder.encode(reference_texts()) * reference_vectors(reference)
    found: Singles = products.sum(axis=1)
    return found


def check_vectors(encoder: Encoder, reference: str, floor: Floor) -> None:
    """Compare an encoder with its reference vectors.

    Raises:
        WrongVectors: a cosine is below the floor or is not a number.
    """
    found = cosines(encoder, reference)
    mean, worst = float(found.mean()), float(found.min())
    if not (mean >= floor.mean and worst >= floor.worst):
        raise WrongVectors(
            f"The converted encoder {reference} gives other vectors than it should (cosine "
            f"{mean:.4f} on average, {worst:.4f} at worst). Check that the packages installed "
            "are those of requirements.txt and requirements-dev.txt."
        )
