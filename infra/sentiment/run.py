"""One run: sentences, vectors, head, figures, files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
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
from infra.model_files.prebuilt.sentiment_data import RatedSentence
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
_REPORT_TEXTS = 2_000

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Folders:
    """Where a run reads and writes."""

    models: Path
    """The model directory, with the encoder installed."""
    work: Path
    """Ratings and clear sentences; also room for what is made between."""
    target: Path
    """What a run writes to; made when it is missing."""


def run(folders: Folders, progress: Progress) -> None:
    """Fit, measure and write; the served head learns from what was held out, too."""
    sentences = split_sentences(folders.work)
    encoder = _reading_encoder(folders)

    def read(some: list[str]) -> Singles:
        return _vectors(encoder, some, progress)

    texts, truth = taught_texts(sentences.taught, read)
    progress("leaving one source out after the other")
    rated = sorted({sentence.source for sentence in sentences.training})
    left = leave_sources_out(texts, truth, rated)
    for source, found in left.sources.items():
        progress(f"without {source}: {found}")
    held, right = taught_texts(sentences.held, read)
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
    sentences: Sequence[RatedSentence], encode: Callable[[list[str]], Singles]
) -> tuple[TaughtTexts, Ints]:
    """Return sentences as they are learnt, and the places of their labels, int, shape (texts,)."""
    vectors = encode([sentence.text for sentence in sentences])
    shares = np.array([sentence.shares for sentence in sentences])
    sources = [sentence.source for sentence in sentences]
    texts = TaughtTexts(vectors.astype(np.float64), shares, sources)
    return texts, np.array([sentence.label for sentence in sentences], np.int64)


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
        "clearSentences": len(sentences.clear),
        "ownSentences": len(sentences.own),
        "heldOutSentences": len(sentences.held),
    }


def write_files(target: Path, content: bytes, figures: Mapping[str, Any]) -> None:
    """Write head and figures; the figures name the head's digest."""
    target.mkdir(parents=True, exist_ok=True)
    (target / HEAD_FILE.name).write_bytes(content)
    digest = {"sha256": hashlib.sha256(content).hexdigest()}
    write_json(target / FIGURES_FILE.name, {**digest, **figures})
