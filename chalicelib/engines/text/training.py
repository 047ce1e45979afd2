"""Trains a text model: makes its artifact and its documents from the training texts."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.domain.common.clock import date_text
from chalicelib.domain.common.limits import TEXT_SPLIT_RATIO
from chalicelib.domain.datasets.example import text_digest
from chalicelib.domain.datasets.windows import READ_WORDS, is_cut
from chalicelib.domain.models.evaluation import Evaluation
from chalicelib.domain.models.model import Model
from chalicelib.domain.models.suspects import SuspectExample
from chalicelib.domain.models.training_texts import TrainingTexts
from chalicelib.engines.advice import MOST_ADVICE, label_name_advice, single_label_advice
from chalicelib.engines.evaluation import evaluate_single
from chalicelib.engines.interface import OutOfFold, TextFitOptions, TextReport, TextTrainingSet
from chalicelib.engines.text.background import background_texts
from chalicelib.engines.text.classifier import TrainedText, dump
from chalicelib.engines.text.cost import expected_seconds
from chalicelib.engines.text.encoding.encoders import FAST
from chalicelib.engines.text.encoding.label_phrases import label_phrase
from chalicelib.engines.text.fit import fit
from chalicelib.engines.text.names.fit import fit_names
from chalicelib.engines.text.names.space import BACKGROUND_STEP, name_vectors
from chalicelib.engines.text.report.data_report import data_report, suspect_examples
from chalicelib.engines.text.report.feedback_calibration import feedback_calibration
from chalicelib.engines.text.report.json_documents import (
    card_document,
    curve_record,
    metrics_document,
)
from chalicelib.engines.text.similarity.same_words import same_words

if TYPE_CHECKING:
    from datetime import datetime

    from chalicelib.domain.common.arrays import Singles
    from chalicelib.engines.interface import Blocks, TextEpoch
    from chalicelib.engines.text.encoding.interface import Encoder
    from chalicelib.engines.text.windows.training_vectors import TrainingVectors


# Every training draws its split and folds from this seed; equal data gives equal models.
SEED = 0
# What a model was trained from, as its model card says.
EXAMPLES, LABEL_NAMES, BOTH = "examples", "labelNames", "both"


@dataclass(frozen=True)
class TextVectors:
    """Provides the vectors that a training uses."""

    encoders: Sequence[Encoder]
    texts: TrainingVectors
    """Computes the vectors of the training texts, and fits the weights of long texts' windows."""
    of_phrases: Callable[[str, Sequence[str]], Singles]
    """Returns vectors of any texts, float32, (texts, dims), given an encoder's name."""
    profile: str = FAST
    reason: str = ""
    """Reason for choosing the profile of encoders, for the model card."""
    of_unlabelled: Callable[[str], Singles] | None = None
    """Returns the vectors of unlabelled texts, given an encoder's name; None if there are none."""
    uses_names: bool = False
    """Whether the model is trained from the names of its labels, because most have few examples."""


@dataclass(frozen=True)
class TrainingCallbacks:
    """Callbacks for the progress of a training. Each may raise an error to stop the training."""

    on_curve: Callable[[list[dict[str, Any]]], None]
    """Receives all records of the learning curve after each epoch."""
    on_progress: Callable[[float], None]
    """Receives the fraction of the fit that is done, 0 to 1."""
    on_vectors: Callable[[float], None] = lambda seconds: None
    """Called as soon as all vectors exist, with the seconds that the remaining work may take."""


@dataclass(frozen=True)
class FittedText:
    """The results of a finished training."""

    artifact: bytes
    metrics: dict[str, Any]
    """`metricsData` of GET models/{id}."""
    card: dict[str, Any]
    curve: list[dict[str, Any]]
    report: TextReport
    fit_seconds: float
    suspects: Sequence[SuspectExample] = ()
    """All examples whose labels are flagged as likely errors."""
    evaluation: Evaluation = field(default_factory=Evaluation)
    """Out-of-fold predictions for the dataset's own examples."""


def train_text(
    model: Model,
    texts: TrainingTexts,
    vectors: TextVectors,
    callbacks: TrainingCallbacks,
    now: datetime,
    *,
    threads: int = 1,
) -> FittedText:
    """Train a text model.

    Args:
        model: the model to train. `model.request` contains the options of the training.
        texts: the training texts.
        vectors: source of the vectors.
        callbacks: called as the training proceeds.
        now: current time, the creation date on the model card.
        threads: number of threads for the fit. It does not change the result.

    Raises:
        TrainingFailed: no model can be trained on these texts.
    """
    training_set = make_training_set(texts, vectors, rejects=model.out_of_domain_rate is not None)
    callbacks.on_vectors(_expected_seconds(training_set))
    loaded = time.monotonic()
    curve: list[dict[str, Any]] = []

    def on_epoch(epoch: TextEpoch) -> None:
        curve.append(curve_record(epoch))
        callbacks.on_curve(curve)

    trained = _fit(training_set, vectors, _options(model, threads), on_epoch, callbacks)
    report, artifact = trained.report, dump(trained)
    if report is None:
        raise RuntimeError("A training that finished must have a report.")
    facts = _card_facts(texts, vectors, artifact, report) | {"created_at": date_text(now)}
    return FittedText(
        artifact=artifact,
        metrics=metrics_document(report),
        card=card_document(model, report, facts, SEED),
        curve=curve,
        report=report,
        fit_seconds=time.monotonic() - loaded,
        suspects=suspect_examples(texts, report.out_of_fold),
        evaluation=_evaluation(texts, report.out_of_fold),
    )


def _fit(
    training_set: TextTrainingSet,
    vectors: TextVectors,
    options: TextFitOptions,
    on_epoch: Callable[[TextEpoch], None],
    callbacks: TrainingCallbacks,
) -> TrainedText:
    if vectors.uses_names:
        return fit_names(training_set, _unlabelled(vectors), options, on_epoch)
    return fit(training_set, options, on_epoch, callbacks.on_progress)


def _unlabelled(vectors: TextVectors) -> Blocks:
    if vectors.of_unlabelled is None:
        return {}
    return {encoder.name: vectors.of_unlabelled(encoder.name) for encoder in vectors.encoders}


def _trained_from(texts: TrainingTexts, vectors: TextVectors) -> str:
    if not vectors.uses_names:
        return EXAMPLES
    return BOTH if texts.texts else LABEL_NAMES


def _evaluation(texts: TrainingTexts, folds: OutOfFold) -> Evaluation:
    own = texts.spans[0][1] if texts.spans else len(texts.texts)
    order = np.argsort(folds.examples, kind="stable")
    places = folds.examples[order].tolist()
    shares = folds.probabilities if folds.calibrated is None else folds.calibrated
    return evaluate_single(
        [texts.example_ids[place] if place < own else None for place in places],
        texts.labels,
        folds.truth[order],
        shares[order],
        None if folds.is_rejected is None else folds.is_rejected[order],
    )


def _expected_seconds(training_set: TextTrainingSet) -> float:
    dims = sum(block.shape[1] for block in training_set.blocks.values())
    return expected_seconds(len(training_set.digests), dims, len(training_set.label_names))


def _card_facts(
    texts: TrainingTexts, vectors: TextVectors, artifact: bytes, report: TextReport
) -> dict[str, Any]:
    are_cut = np.array([is_cut(text) for text in texts.texts], bool)
    folds = report.out_of_fold
    answers = folds.probabilities.argmax(axis=1)
    advice = single_label_advice(texts.labels, folds.truth, answers, are_cut[folds.examples])
    if vectors.uses_names:
        advice = [label_name_advice(len(texts.labels), len(texts.texts)), *advice][:MOST_ADVICE]
    return {
        "advice": advice,
        "trained_from": _trained_from(texts, vectors),
        "artifact_sha256": hashlib.sha256(artifact).hexdigest(),
        "profile": vectors.profile,
        "profile_reason": vectors.reason,
        "encoders": [_encoder_facts(encoder) for encoder in vectors.encoders],
        "labels": len(texts.labels),
        "examples": len(texts.texts),
        "available": texts.available,
        "skipped": texts.skipped,
        "feedback": texts.feedback,
        "text_limit": {"words": READ_WORDS, "cut": int(are_cut.sum())},
        "feedback_calibration": feedback_calibration(report.out_of_fold, texts.feedback_places),
        "data_report": data_report(texts, report),
    }


def make_training_set(
    texts: TrainingTexts, vectors: TextVectors, *, rejects: bool = False
) -> TextTrainingSet:
    """Collect labels and vectors for a training.

    Args:
        texts: the training texts.
        vectors: source of the vectors.
        rejects: whether the model rejects out-of-domain texts. Background texts are added if it
            is True, or if the training uses label names.
    """
    names = [encoder.name for encoder in vectors.encoders]
    background = None
    if rejects or vectors.uses_names:
        others = background_texts()[:: BACKGROUND_STEP if vectors.uses_names else 1]
        background = {name: vectors.of_phrases(name, others) for name in names}
    return TextTrainingSet(
        blocks={name: vectors.texts.of_texts(name) for name in names},
        label_indexes=np.array(texts.label_indexes, np.int64),
        label_names=texts.labels,
        digests=[text_digest(text) for text in texts.texts],
        word_digests=[text_digest(same_words(text)) for text in texts.texts],
        label_blocks={name: _label_vectors(texts, vectors, name) for name in names},
        background=background,
        encoder_digests={encoder.name: encoder.sha256 for encoder in vectors.encoders},
        # The weights of windows are fitted while the blocks are computed.
        reading=vectors.texts.reading,
    )


def _label_vectors(texts: TrainingTexts, vectors: TextVectors, encoder: str) -> Singles:
    """Return a vector of each label's name and description, shape (labels, dims)."""
    known = texts.descriptions
    phrases = [label_phrase(label) or "" for label in texts.labels]
    if vectors.uses_names:
        # A code is used only if the label would otherwise have no vector, because it has no
        # examples.
        phrases = [
            phrase or ("" if label in known else label)
            for phrase, label in zip(phrases, texts.labels, strict=True)
        ]
        found = name_vectors(phrases, partial(vectors.of_phrases, encoder))
    else:
        found = vectors.of_phrases(encoder, phrases)
    places = [place for place, label in enumerate(texts.labels) if label in known]
    if not places:
        return found
    described = vectors.of_phrases(encoder, [known[texts.labels[place]] for place in places])
    for place, vector in zip(places, described, strict=True):
        both = found[place] + vector if phrases[place] else vector
        found[place] = both * (np.linalg.norm(vector) / max(float(np.linalg.norm(both)), 1e-9))
    return found


def _options(model: Model, threads: int) -> TextFitOptions:
    request = model.request
    ratio = request.param("trainSplitRatio")
    return TextFitOptions(
        split_ratio=TEXT_SPLIT_RATIO if ratio is None else float(str(ratio)),
        out_of_domain_rate=model.out_of_domain_rate,
        max_epochs=request.epochs,
        seed=SEED,
        threads=threads,
    )


def _encoder_facts(encoder: Encoder) -> dict[str, str]:
    facts = encoder.facts
    return {"name": facts.title, "sha256": facts.sha256, "licence": facts.licence}
