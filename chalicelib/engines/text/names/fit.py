"""Trains a text model from label names and few examples, optionally with unlabelled texts.

Like other text models, the model is linear. The logit of a label is the product of the text vector
and the label's weights, times a scale. Cross-validation measures the accuracy on the labels that
have at least two examples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
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
from chalicelib.engines.text.names.prototypes import LabelledVectors
from chalicelib.engines.text.names.refining import fit_weights, held_out_products
from chalicelib.engines.text.names.space import LabelSpace, fit_space

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chalicelib.domain.common.arrays import Bools, Ints, Singles
    from chalicelib.engines.interface import Blocks, TextFitOptions, TextTrainingSet

# Factor from products of texts and prototypes to logits: a constant, plus a coefficient of the
# logarithm of the number of labels. Calibrated on training texts of six datasets with 5 to 150
# labels: with names only, and with examples.
_SCALE_OF_NAMES, _SCALE_OF_EXAMPLES = (11.5, 0.8), (9.0, 1.75)
# Two names are opposite to each other after centring, which makes products too large. On 24 pairs
# of labels of BANKING77 and CLINC150, the log-loss falls from 0.127 to 0.080.
_SCALE_OF_TWO_NAMES = 0.5
# Encoders that agree are right more often. Fitted on SIB-200's training texts of nine languages.
_POWER_OF_ENCODERS = 0.25
# Reduces overconfidence: prototypes that were moved towards unlabelled texts fit these too well.
_SCALE_OF_UNLABELLED = 0.9
# Minimum number of held-out examples for fitting a temperature: in total, and per label. If one of
# two examples is held out, the name of the label decides, unlike in the finished model.
_ENOUGH_FOR_TEMPERATURE, _ENOUGH_OF_LABEL = 200, 3


def fit_names(
    training_set: TextTrainingSet,
    unlabelled: Blocks,
    options: TextFitOptions,
    on_epoch: Callable[[TextEpoch], None],
) -> TrainedText:
    """Train a model from label names, few examples and unlabelled texts.

    Args:
        training_set: vectors of label names; also vectors and labels of examples, if there are any.
        unlabelled: for each encoder, the vectors of unlabelled texts, float32, (texts, dims).
        options: options of the training.
        on_epoch: called once, with the metrics.
    """
    space, given = _given(training_set, unlabelled)
    fitted, rate = fit_weights(given), options.out_of_domain_rate
    scale = given.scale * (_SCALE_OF_UNLABELLED if len(given.unlabelled) else 1.0)
    products, is_tested = held_out_products(given)
    logits = (scale * products).astype(np.float32)
    rows = np.flatnonzero(is_tested)
    truth = given.labels[rows]
    temperature = 1.0
    if len(rows) >= max(_ENOUGH_FOR_TEMPERATURE, _ENOUGH_OF_LABEL * len(given.names)):
        temperature = fit_temperature(logits[rows], truth, 1.0 / (len(rows) + 2))
    others = scale * given.unlabelled @ fitted.T
    # The texts without labels also show how unsure the model is within the domain.
    sureness = [energies(some, temperature) for some in (logits, others)]
    threshold = rejection_threshold(np.concatenate(sureness), rate)
    held_out = _HeldOut(rows, truth, logits[rows], temperature, threshold)
    report = _report(training_set.label_names, given, held_out, rate)
    on_epoch(TextEpoch(1, report.metrics))
    parameters = TextParameters(
        labels=tuple(training_set.label_names),
        encoders=_encoder_uses(training_set),
        weights=np.ascontiguousarray(scale * fitted.T).astype(np.float16),
        biases=np.zeros(len(given.names), np.float32),
        means=space.means,
        norms=space.norms,
        temperature=temperature,
        threshold=threshold,
        windows=training_set.reading,
    )
    return TrainedText(parameters, report)


def _encoder_uses(training_set: TextTrainingSet) -> tuple[EncoderUse, ...]:
    digests, blocks = training_set.encoder_digests, training_set.blocks
    return tuple(
        EncoderUse(name, digests.get(name, ""), blocks[name].shape[1]) for name in sorted(blocks)
    )


def _given(training_set: TextTrainingSet, unlabelled: Blocks) -> tuple[LabelSpace, LabelledVectors]:
    if training_set.label_blocks is None:
        raise ValueError("A training from names needs the vectors of the labels.")
    examples, background = training_set.blocks, training_set.background or {}
    space = fit_space(training_set.label_blocks, examples, unlabelled, background)
    labels, encoders = len(space.names), len(space.norms)
    constant, slope = _SCALE_OF_EXAMPLES if training_set.digests else _SCALE_OF_NAMES
    scale = (constant + slope * math.log(labels)) * encoders**_POWER_OF_ENCODERS
    if labels == 2 and not training_set.digests:
        scale *= _SCALE_OF_TWO_NAMES
    return space, LabelledVectors(
        names=space.names,
        features=space.place(training_set.blocks),
        labels=np.asarray(training_set.label_indexes, np.int64),
        unlabelled=space.place(unlabelled) if unlabelled else np.empty((0, len(space.means))),
        scale=scale / space.spread,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _HeldOut:
    """Logits of held-out examples, from weights that were fitted to the other examples."""

    rows: Ints
    """Indexes of the examples."""
    truth: Ints
    logits: Singles
    temperature: float
    threshold: float


def _report(
    names: Sequence[str], vectors: LabelledVectors, held_out: _HeldOut, rate: float | None
) -> TextReport:
    truth, temperature = held_out.truth, held_out.temperature
    shares = probabilities(held_out.logits, temperature)
    is_rejected = energies(held_out.logits, temperature) < held_out.threshold
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
        training_examples=len(vectors.labels),
        test_examples=len(truth),
        is_exact=False,
        duplicates_kept_together=0,
        duplicates_across_split=0,
        conflicts=(),
        rejection=None if rate is None else _rejection(is_rejected, len(vectors.unlabelled)),
        out_of_fold=OutOfFold(
            held_out.rows, shares, truth, shares, None if rate is None else is_rejected
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
        # Each example is predicted by weights that were not trained on it, so this is the same
        # accuracy.
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
