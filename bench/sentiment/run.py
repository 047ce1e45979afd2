"""Runs the steps of the command: read and encode sentences; fit, measure and write the head."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from bench.sentiment.figures import ScoredTexts, leave_sources_out, logits, measure, references
from bench.sentiment.fitting import PENALTY_INVERSE, SoftLabelledTexts, fit
from bench.sentiment.ratings import RatedSentence
from bench.sentiment.sentences import Sentences, split_sentences
from chalicelib.domain.common.arrays import Ints, Singles
from chalicelib.engines.text.encoding.interface import Encoder
from infra.model_files.conversion import text_encoders
from infra.model_files.installed import write_json
from infra.model_files.manifest import MODELS
from infra.model_files.sentiment_head import (
    FIGURES_FILE,
    HEAD_FILE,
    dump_head,
    write_encoder,
)

BASE = "bge"
READING = "bge-sentiment"  # the base encoder with a tokeniser that reads emoji as words
_REPORT_TEXTS = 2_000

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Folders:
    """The folders of a run."""

    models: Path
    """The model directory, with the base encoder installed."""
    work: Path
    """Folder of the downloaded sentences, and of intermediate files."""
    target: Path
    """The folder for the results, created if it does not exist."""


def run(folders: Folders, progress: Progress) -> None:
    """Fit a head, measure it, and write the head with the measured figures."""
    sentences = split_sentences(folders.work)
    encoder = _reading_encoder(folders)

    def read(some: list[str]) -> Singles:
        return _vectors(encoder, some, progress)

    texts, truth = label_texts(sentences.trained, read)
    progress("excluding one source after the other")
    rated = sorted({sentence.source for sentence in sentences.training})
    left = leave_sources_out(texts, truth, rated)
    for source, found in left.sources.items():
        progress(f"without {source}: {found}")
    held, held_truth = label_texts(sentences.held, read)
    measured = fit(texts)
    test = ScoredTexts(logits(measured, held.vectors.astype(np.float32)), held_truth)
    training = ScoredTexts(logits(measured, texts.vectors.astype(np.float32)), truth)
    figures = describe(sentences) | {"temperature": left.temperature, "leftOut": left.sources}
    figures |= measure(training, test, left.temperature)
    # The served head is trained on the held-out sentences too, in the same way.
    head = fit(texts.with_others(held))
    figures["references"] = references(encoder, head, left.temperature)
    accuracy, recall = figures["testAccuracy"]["value"], figures["macroRecall"]
    progress(f"held-out accuracy {accuracy:.4f}, macro recall {recall:.4f}")
    write_files(folders.target, dump_head(head), figures)


def label_texts(
    sentences: Sequence[RatedSentence], encode: Callable[[list[str]], Singles]
) -> tuple[SoftLabelledTexts, Ints]:
    """Return sentences as vectors with soft labels, and label indexes, int, shape (sentences,)."""
    vectors = encode([sentence.text for sentence in sentences])
    fractions = np.array([sentence.label_fractions for sentence in sentences])
    sources = [sentence.source for sentence in sentences]
    texts = SoftLabelledTexts(vectors.astype(np.float64), fractions, sources)
    return texts, np.array([sentence.label for sentence in sentences], np.int64)


def _reading_encoder(folders: Folders) -> Encoder:
    """Build and load the sentiment encoder as an installation does."""
    folder = folders.work / READING
    folder.mkdir()
    write_encoder(folders.models / BASE, folder)
    text_encoders.write_encoder_facts(MODELS[READING], folder)
    return text_encoders.load(folder)


def _vectors(encoder: Encoder, texts: list[str], progress: Progress) -> Singles:
    parts = []
    for first in range(0, len(texts), _REPORT_TEXTS):
        progress(f"read {first:,} of {len(texts):,} sentences")
        parts.append(encoder.encode(texts[first : first + _REPORT_TEXTS]))
    return np.concatenate(parts)


def describe(sentences: Sentences) -> dict[str, Any]:
    """Return the figures that describe the training data."""
    return {
        "createdAt": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000+0000"),
        "penaltyInverse": PENALTY_INVERSE,
        "ratedSentences": len(sentences.training),
        "clearSentences": len(sentences.clear),
        "ownSentences": len(sentences.own),
        "heldOutSentences": len(sentences.held),
    }


def write_files(target: Path, content: bytes, figures: Mapping[str, Any]) -> None:
    """Write the head, and a file with its digest and the figures."""
    target.mkdir(parents=True, exist_ok=True)
    (target / HEAD_FILE.name).write_bytes(content)
    digest = {"sha256": hashlib.sha256(content).hexdigest()}
    write_json(target / FIGURES_FILE.name, {**digest, **figures})
