"""Collects the results of a training: metrics, intervals, out-of-fold predictions, conflicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines import metrics
from chalicelib.engines.arithmetic import EXACT_EXAMPLES
from chalicelib.engines.calibration import energies, probabilities
from chalicelib.engines.data_report import MAX_LISTED
from chalicelib.engines.interface import (
    Interval,
    OutOfFold,
    RejectionQuality,
    TextConflict,
    TextReport,
)
from chalicelib.engines.text.head.evaluation import SplitEvaluator, label_thresholds
from chalicelib.engines.text.similarity.conflicts import conflicting_pairs

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Ints
    from chalicelib.engines.text.epochs import Epochs
    from chalicelib.engines.text.head.out_of_fold import CrossValidation
    from chalicelib.engines.text.head.rejector import FittedRejectors
    from chalicelib.engines.text.plan import FitPlan


def make_report(
    plan: FitPlan,
    choice: CrossValidation,
    epochs: Epochs,
    words: Sequence[bytes],
    rejectors: FittedRejectors | None = None,
) -> TextReport:
    """Collect the results of a training for the metrics and the model card.

    Args:
        plan: the features, with the split into training and held-out part.
        choice: penalty, temperatures and out-of-fold logits.
        epochs: the head fitted to the training part, with the evaluator of both parts.
        words: digests of the examples' words, in the order of the training set.
        rejectors: rejectors fitted to background texts; None if the model has no rejector.
    """
    evaluator = epochs.evaluator
    scores, truth = evaluator.scores(epochs.head)
    last, tests, examples = epochs.last.metrics, len(truth), len(plan.layout.order)
    shares = probabilities(choice.logits, choice.temperature)
    served, is_rejected = shares, None
    if rejectors is not None:
        served = rejectors.served_rejector.scale.cautious(shares, rejectors.signals)
        is_rejected = rejectors.served_rejector.rejects(rejectors.signals)
    matrix = np.array(last.confusion_matrix)
    return TextReport(
        metrics=last,
        thresholds=label_thresholds(scores, truth, evaluator.label_names),
        curve=metrics.precision_recall_curve(scores, truth),
        accuracy_interval=metrics.wilson_interval(round(last.test_accuracy * tests), tests),
        macro_f1_interval=metrics.macro_f1_interval(matrix, plan.labels),
        calibration_error=round(metrics.calibration_error(served, choice.truth), 6),
        brier_score=round(metrics.brier_score(served, choice.truth), 6),
        penalty_inverse=choice.penalty_inverse,
        temperature=choice.temperature,
        nearness_weight=choice.nearness_weight,
        epochs=epochs.last.epoch,
        early_stopping=epochs.has_converged,
        training_examples=examples - tests,
        test_examples=tests,
        is_exact=examples <= EXACT_EXAMPLES,
        duplicates_kept_together=plan.duplicates.kept_together,
        duplicates_across_split=plan.duplicates.across_split,
        rejection=_rejection(choice, evaluator, matrix, rejectors),
        conflicts=_conflicts(plan, words),
        out_of_fold=OutOfFold(choice.examples, shares, choice.truth, served, is_rejected),
    )


def _withheld(rejectors: FittedRejectors) -> dict[str, Interval]:
    found, threshold = rejectors.withheld, rejectors.served_rejector.threshold
    if found is None:
        return {}
    pairs = {"withheld_clusters": found.clusters, "withheld_labels": found.labels}
    return {
        name: metrics.wilson_interval(int((scores < threshold).sum()), len(scores))
        for name, scores in pairs.items()
    }


def _conflicts(plan: FitPlan, words: Sequence[bytes]) -> tuple[TextConflict, ...]:
    order, layout = plan.layout.order, plan.layout
    found = conflicting_pairs(
        [words[row] for row in order.tolist()],
        layout.labels[: len(order)],
        layout.features[: len(order)],
        MAX_LISTED,
    )
    places = [(int(order[one.left]), int(order[one.right])) for one in found]
    return tuple(
        TextConflict(min(pair), max(pair), one.similarity)
        for pair, one in zip(places, found, strict=True)
    )


def _rejection(
    choice: CrossValidation,
    evaluator: SplitEvaluator,
    matrix: Ints,
    rejectors: FittedRejectors | None,
) -> RejectionQuality | None:
    if not evaluator.may_reject:
        return None
    rejected = int(matrix[:-1, -1].sum())
    if rejectors is not None:
        below = rejectors.served_rejector.rejects(rejectors.signals)
        background = len(rejectors.background)
        foreign = int(rejectors.served_rejector.rejects(rejectors.background).sum())
        return RejectionQuality(
            held_out=metrics.wilson_interval(rejected, int(matrix.sum())),
            out_of_fold=round(float(below.mean()), 6),
            judged_by=len(choice.truth),
            background=metrics.wilson_interval(foreign, background),
            background_texts=background,
            **_withheld(rejectors),
        )
    trained = energies(choice.logits[choice.is_trained], choice.metric_temperature)
    return RejectionQuality(
        held_out=metrics.wilson_interval(rejected, int(matrix.sum())),
        out_of_fold=round(float((trained < evaluator.threshold).mean()), 6)
        if len(trained)
        else 0.0,
        judged_by=len(choice.truth),
    )
