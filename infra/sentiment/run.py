"""One run: sentences, vectors, head, figures, files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from chalicelib.domain.common.arrays import Ints, Singles
from chalicelib.engines.text.encoding.interface import Encoder
from infra.model_files.conversion import text_encoders
from infra.model_files.installed import write_json
from infra.model_files.manifest import MODELS
from infra.model_files.prebuilt.sentiment_data import LABELS
from infra.model_files.sentiment_head import (
    FIGURES_FILE,
    HEAD_FILE,
    dump_head,
    write_encoder,
)
from infra.sentiment.figures import ScoredTexts, leave_sources_out, logits, measure, references
from infra.sentiment.fitting import PENALTY_INVERSE, TaughtTexts, fit
from infra.sentiment.sentences import Sentences, split_sentences

BASE = "bge"
"""The encoder whose vectors the head reads."""
READING = "bge-sentiment"
"""The same one, whose tokeniser reads emoji as words."""
OWN = "own"
"""Source of the project's own sentences."""
_REPORT_TEXTS = 2_000

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Folders:
    """Where a run reads and writes."""

    models: Path
    """The model directory, with the encoder installed."""
    work: Path
    """The ratings; also room for what is made between."""
    target: Path
    """What a run writes to; made when it is missing."""


def run(folders: Folders, progress: Progress) -> None:
    """Fit, measure and write; the served head learns from what was held out, too."""
    sentences = split_sentences(folders.work / "ratings.tar.gz")
    encoder = _reading_encoder(folders)

    def read(some: list[str]) -> Singles:
        return _vectors(encoder, some, progress)

    texts, truth = taught_texts(sentences, read)
    progress("leaving one source out after the other")
    rated = sorted({sentence.source for sentence in sentences.training})
    left = leave_sources_out(texts, truth, rated)
    for source, found in left.sources.items():
        progress(f"without {source}: {found}")
    held, right = taught_texts(Sentences(sentences.held, [], []), read)
    judged = fit(texts)
    asked = ScoredTexts(logits(judged, held.vectors.astype(np.float32)), right)
    known = ScoredTexts(logits(judged, texts.vectors.astype(np.float32)), truth)
    figures = describe(sentences) | {"temperature": left.temperature, "leftOut": left.sources}
    figures |= measure(known, asked, left.temperature)
    head = fit(texts.beside(held))
    figures["references"] = references(encoder, head, left.temperature)
    accuracy, recall = figures["testAccuracy"]["value"], figures["macroRecall"]
    progress(f"held-out accuracy {accuracy:.4f}, macro recall {recall:.4f}")
    write_files(folders.target, dump_head(head), figures)


def taught_texts(
    sentences: Sentences, encode: Callable[[list[str]], Singles]
) -> tuple[TaughtTexts, Ints]:
    """Return what is learnt from, and the places of its labels, int, shape (texts,)."""
    rated, own = sentences.training, sentences.own
    vectors = encode([sentence.text for sentence in rated] + [text for text, _ in own])
    shares = np.array([sentence.shares for sentence in rated])
    if own:
        certain = np.eye(len(LABELS))[[label for _, label in own]]
        shares = np.concatenate([shares, certain])
    sources = [sentence.source for sentence in rated] + [OWN] * len(own)
    truth = [sentence.label for sentence in rated] + [label for _, label in own]
    texts = TaughtTexts(vectors.astype(np.float64), shares, sources)
    return texts, np.array(truth, np.int64)


def _reading_encoder(folders: Folders) -> Encoder:
    """Make the encoder as an installation would."""
    folder = folders.work / READING
    folder.mkdir()
    write_encoder(folders.models / BASE, folder)
    text_encoders.write_encoder_facts(MODELS[READING], folder)
    return text_encoders.load(folder)


def _vectors(encoder: Encoder, texts: list[str], progress: Progress) -> Singles:
    """Turn texts into vectors, float32, shape (texts, dimensions)."""
    parts = []
    for first in range(0, len(texts), _REPORT_TEXTS):
        progress(f"read {first:,} of {len(texts):,} sentences")
        parts.append(encoder.encode(texts[first : first + _REPORT_TEXTS]))
    return np.concatenate(parts)


def describe(sentences: Sentences) -> dict[str, Any]:
    """Return what was learnt from and how."""
    return {
        "createdAt": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000+0000"),
        "penaltyInverse": PENALTY_INVERSE,
        "ratedSentences": len(sentences.training),
        "ownSentences": len(sentences.own),
        "heldOutSentences": len(sentences.held),
    }


def write_files(target: Path, content: bytes, figures: Mapping[str, Any]) -> None:
    """Write head and figures; the figures name the head's digest."""
    target.mkdir(parents=True, exist_ok=True)
    (target / HEAD_FILE.name).write_bytes(content)
    digest = {"sha256": hashlib.sha256(content).hexdigest()}
    write_json(target / FIGURES_FILE.name, {**digest, **figures})
