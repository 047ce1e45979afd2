"""Trains a text model from names of labels and few examples, optionally with unlabelled texts.

Like other text models, the model is linear: its logits are the scaled products of the centred text
vector with the centred prototypes of the labels. Accuracy is measured by leaving out each example
once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines import metrics
from chalicelib.engines.calibration import energies, fit_temperature, probabilities
from chalicelib.engines.interface import (
    EncoderUse,
    Interval,
    OutOfFold,
    RejectionQuality,
    TextEpoch,
    TextMetrics,
    TextReport,
)
from chalicelib.engines.text.classifier import TextParameters, TrainedText
from chalicelib.engines.text.head.evaluation import label_thresholds
from chalicelib.engines.text.head.out_of_domain import rejection_threshold
from chalicelib.engines.text.names.prototypes import (
    LabelledVectors,
    fit_prototypes,
    held_out_products,
)
from chalicelib.engines.text.names.space import LabelSpace, fit_space

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chalicelib.domain.common.arrays import Bools, Ints, Singles
    from chalicelib.engines.interface import Blocks, TextFitOptions, TextTrainingSet

# Logits are this multiple of the products of texts with prototypes, calibrated on training texts of
# four datasets with 5 to 150 labels. More labels are set apart by more details, and encoders that
# agree are right more often.
_SCALE, _SCALE_OF_LABELS, _POWER_OF_ENCODERS = 11.5, 0.8, 0.16
# Prototypes that followed texts without labels agree with such texts more than they are right.
_SCALE_OF_UNLABELLED = 0.9
# Fewer held-out examples do not show a better temperature than the scale above.
_ENOUGH_FOR_TEMPERATURE = 200


def fit_names(
    training_set: TextTrainingSet,
    unlabelled: Blocks,
    options: TextFitOptions,
    on_epoch: Callable[[TextEpoch], None],
) -> TrainedText:
    """Train a model from label names, few examples and unlabelled texts.

    Args:
        training_set: vectors and labels; there may be no examples, but there are label vectors.
        unlabelled: vectors of texts without labels by encoder, float32, shape (texts, dims).
        options: options of the training.
        on_epoch: called once, with the metrics.

    Returns:
        The model with its report.
    """
    names = sorted(training_set.blocks)
    space, given = _given(training_set, unlabelled)
    prototypes, rate = fit_prototypes(given), options.out_of_domain_rate
    scale = given.scale * (_SCALE_OF_UNLABELLED if len(given.unlabelled) else 1.0)
    logits = (scale * held_out_products(given)).astype(np.float32)
    temperature = 1.0
    if len(logits) >= _ENOUGH_FOR_TEMPERATURE:
        temperature = fit_temperature(logits, given.labels, 1.0 / (len(logits) + 2))
    others = scale * given.unlabelled @ prototypes.T
    # The texts without labels also show how unsure the model is within the domain.
    sureness = [energies(some, temperature) for some in (logits, others)]
    threshold = rejection_threshold(np.concatenate(sureness), rate)
    report = _report(training_set.label_names, given, logits, temperature, threshold, rate)
    on_epoch(TextEpoch(1, report.metrics))
    weights = scale * prototypes.T
    digests = training_set.encoder_digests
    uses = tuple(
        EncoderUse(name, digests.get(name, ""), training_set.blocks[name].shape[1])
        for name in names
    )
    parameters = TextParameters(
        labels=tuple(training_set.label_names),
        encoders=uses,
        weights=np.ascontiguousarray(weights).astype(np.float16),
        biases=np.zeros(len(training_set.label_names), np.float32),
        means=space.means,
        norms=space.norms,
        temperature=temperature,
        threshold=threshold,
        windows=training_set.reading,
    )
    return TrainedText(parameters, report)


def _given(training_set: TextTrainingSet, unlabelled: Blocks) -> tuple[LabelSpace, LabelledVectors]:
    if training_set.label_blocks is None:
        raise ValueError("A training from names needs the vectors of the labels.")
    texts = [blocks for blocks in (training_set.blocks, unlabelled) if blocks]
    space = fit_space(training_set.label_blocks, texts, training_set.background or {})
    labels, encoders = len(space.names), len(space.norms)
    return space, LabelledVectors(
        names=space.names,
        features=space.place(training_set.blocks),
        labels=np.asarray(training_set.label_indexes, np.int64),
        unlabelled=space.place(unlabelled) if unlabelled else np.empty((0, len(space.means))),
        scale=(_SCALE + _SCALE_OF_LABELS * math.log(labels)) * encoders**_POWER_OF_ENCODERS,
    )


def _report(
    names: Sequence[str],
    given: LabelledVectors,
    logits: Singles,
    temperature: float,
    threshold: float,
    rate: float | None,
) -> TextReport:
    truth, shares = given.labels, probabilities(logits, temperature)
    is_rejected = energies(logits, temperature) < threshold
    answers = np.where(is_rejected, len(names), shares.argmax(axis=1))
    size = len(names) if rate is None else len(names) + 1
    matrix = metrics.confusion_matrix(truth, answers, size)
    hits = int((answers == truth).sum())
    return TextReport(
        metrics=_metrics(names, matrix, hits, shares, truth),
        thresholds=label_thresholds(shares, truth, names),
        curve=metrics.precision_recall_curve(shares, truth),
        accuracy_interval=metrics.wilson_interval(hits, len(truth)),
        macro_f1_interval=metrics.macro_f1_interval(matrix, len(names))
        if len(truth)
        else Interval(0.0, 0.0, 1.0),
        calibration_error=round(metrics.calibration_error(shares, truth), 6) if len(truth) else 0.0,
        brier_score=round(metrics.brier_score(shares, truth), 6) if len(truth) else 0.0,
        penalty_inverse=1.0,
        temperature=temperature,
        nearness_weight=0.0,
        epochs=1,
        early_stopping=False,
        training_examples=len(truth),
        test_examples=len(truth),
        is_exact=False,
        duplicates_kept_together=0,
        duplicates_across_split=0,
        conflicts=(),
        rejection=None if rate is None else _rejection(is_rejected, len(given.unlabelled)),
        out_of_fold=OutOfFold(
            np.arange(len(truth)), shares, truth, shares, None if rate is None else is_rejected
        ),
    )


def _metrics(
    names: Sequence[str], matrix: Ints, hits: int, shares: Singles, truth: Ints
) -> TextMetrics:
    scores = metrics.label_scores(matrix, len(names))
    accuracy = round(hits / max(len(truth), 1), 6)
    loss = round(metrics.log_loss(shares, truth), 6) if len(truth) else 0.0
    return TextMetrics(
        labels=list(names),
        f1=metrics.rounded(scores.f1),
        precision=metrics.rounded(scores.precision),
        recall=metrics.rounded(scores.recall),
        macro_f1=round(metrics.macro_f1(matrix, len(names)), 6),
        test_accuracy=accuracy,
        # Each example is answered by prototypes without it, so there is no other side.
        training_accuracy=accuracy,
        test_loss=loss,
        training_loss=loss,
        confusion_matrix=matrix.tolist(),
    )


def _rejection(is_rejected: Bools, unlabelled: int) -> RejectionQuality:
    rejected = int(is_rejected.sum())
    return RejectionQuality(
        held_out=metrics.wilson_interval(rejected, len(is_rejected)),
        out_of_fold=round(rejected / max(len(is_rejected), 1), 6),
        judged_by=len(is_rejected) + unlabelled,
    )
