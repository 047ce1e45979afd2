"""Learns a text model from embedded examples: split, penalty, temperature, epochs, served head.

Called by the training service with vectors made at ingest. See: chalicelib/engines/interface.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines import metrics
from chalicelib.engines.interface import (
    EncoderUse,
    TextEpoch,
    TextFitOptions,
    TextReport,
    TextTrainingSet,
)
from chalicelib.engines.split import assign_folds, hold_out, shuffled_ranks
from chalicelib.engines.text.arithmetic import EXACT_EXAMPLES, Arithmetic, arithmetic_for
from chalicelib.engines.text.calibration import energies, probabilities
from chalicelib.engines.text.classifier import TextParameters, TrainedText
from chalicelib.engines.text.cross_validation import CrossValidation, cross_validate
from chalicelib.engines.text.evaluation import Judge, held_out_curve, label_thresholds
from chalicelib.engines.text.features import Scaling, fit_scaling
from chalicelib.engines.text.head import Head, HeadProblem
from chalicelib.engines.text.labels import label_phrase
from chalicelib.engines.text.layout import Layout, Segment, make_segments, sorted_rows
from chalicelib.engines.text.near_duplicates import group_near_duplicates
from chalicelib.engines.text.out_of_domain import rejection_threshold
from chalicelib.engines.text.validation import check_training_set

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.floating[Any]]
    Ints = npt.NDArray[np.int64]
    OnEpoch = Callable[[TextEpoch], None]
    OnProgress = Callable[[float], None]

ITERATIONS_OF_EPOCH = 3
"""Passes of the optimiser that make one record of the learning curve."""
PHRASE_EXAMPLES = 20
"""Below this many examples a label's phrase is one more example."""
_TOLERANCE = 5e-4
_SMALL_SET, _SMALL_SET_FOLDS, _FOLDS = 2_000, 5, 3
_ONE_HOLD_OUT_EXAMPLES = 50_000
_ONE_HOLD_OUT_WORK = 4e9
_CROSS_VALIDATION_SHARE = 0.6


def fit(
    training_set: TextTrainingSet,
    options: TextFitOptions,
    on_epoch: OnEpoch,
    on_progress: OnProgress = lambda share: None,
) -> TrainedText:
    """Learn a model.

    Metrics and learning curve come from a head that saw the training part of the split only;
    the served head goes on from it with all examples.

    Args:
        training_set: vectors and labels.
        options: choices of the caller.
        on_epoch: called after every epoch with its record.
        on_progress: called with the share of the work that is done, from 0 to 1, rising.

    Returns:
        The model with its report.

    Raises:
        TrainingFailed: nothing can be learnt from these examples; the text names the remedy.
    """
    labels = check_training_set(training_set)
    plan = _make_plan(training_set, labels, options)
    chosen = cross_validate(
        plan.layout,
        plan.labels,
        plan.folds,
        plan.arithmetic,
        lambda share: on_progress(_CROSS_VALIDATION_SHARE * share),
    )
    threshold = rejection_threshold(
        energies(chosen.logits, chosen.temperature), options.out_of_domain_rate
    )
    judge = _make_judge(training_set, plan.layout, chosen, threshold, options)
    problem = HeadProblem(
        plan.layout.pieces(lambda part: not part.is_held),
        plan.labels,
        chosen.penalty_inverse,
        plan.arithmetic,
    )
    epochs = _run_epochs(problem, judge, options, on_epoch)
    on_progress(0.5 + 0.5 * _CROSS_VALIDATION_SHARE)
    head = _refit(plan, chosen, epochs.head, options)
    on_progress(1.0)
    report = _make_report(plan, chosen, judge, epochs)
    return TrainedText(_parameters(training_set, plan, head, chosen, threshold), report)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is fixed before anything is learnt."""

    layout: Layout
    """Features in training order."""
    labels: int
    """Number of labels."""
    folds: tuple[int, ...]
    """Folds to hold out."""
    arithmetic: Arithmetic
    """How numbers are rounded."""
    scaling: Scaling
    """Means and scales of the encoders' blocks."""


@dataclass(frozen=True, slots=True)
class _Epochs:
    """How the fit on the training part of the split went."""

    head: Head
    """The last head."""
    last: TextEpoch
    """The last record."""
    has_converged: bool
    """Whether the loss stopped falling."""


def _make_plan(training_set: TextTrainingSet, labels: Ints, options: TextFitOptions) -> _Plan:
    """Scale, group, split and sort the examples."""
    examples = len(labels)
    arithmetic = arithmetic_for(examples)
    scaling = fit_scaling(training_set.blocks, sorted(training_set.blocks))

    def features_of(rows: Ints) -> Floats:
        return scaling.features(training_set.blocks, rows, arithmetic.dtype)

    keys = [
        digest + training_set.label_names[label].encode("utf-8", "surrogatepass")
        for digest, label in zip(training_set.digests, labels, strict=True)
    ]
    ranks = shuffled_ranks(keys, options.seed)
    groups = group_near_duplicates(training_set.digests, labels, features_of)
    held = hold_out(labels, groups, ranks, options.split_ratio)
    if not held.any():
        # All texts of every label say the same: tearing them apart beats testing nothing.
        groups = np.arange(examples)
        held = hold_out(labels, groups, ranks, options.split_ratio)
    folds = assign_folds(labels, groups, ranks, _fold_count(examples))
    order = sorted_rows(held, folds, ranks)
    phrases = _phrase_labels(training_set, labels)
    features = _all_features(training_set, scaling, order, phrases, arithmetic)
    layout = Layout(
        features,
        np.concatenate([labels[order], phrases]),
        order,
        make_segments(held[order], folds[order], len(phrases)),
    )
    size = len(training_set.label_names)
    tried = _folds_to_try(examples, examples * features.shape[1] * size)
    return _Plan(layout, size, tried, arithmetic, scaling)


def _fold_count(examples: int) -> int:
    """Folds to deal the examples to: small sets need every example for training."""
    return _SMALL_SET_FOLDS if examples <= _SMALL_SET else _FOLDS


def _folds_to_try(examples: int, work: int) -> tuple[int, ...]:
    """Folds to hold out: a single one where examples, or examples x dims x labels, are many."""
    is_large = examples > _ONE_HOLD_OUT_EXAMPLES or work > _ONE_HOLD_OUT_WORK
    return (0,) if is_large else tuple(range(_fold_count(examples)))


def _phrase_labels(training_set: TextTrainingSet, labels: Ints) -> Ints:
    """Labels whose phrase is one more example, int, shape (phrases,)."""
    if training_set.label_blocks is None:
        return np.empty(0, np.int64)
    counts = np.bincount(labels, minlength=len(training_set.label_names))
    chosen = [
        place
        for place, name in enumerate(training_set.label_names)
        if counts[place] < PHRASE_EXAMPLES and label_phrase(name) is not None
    ]
    return np.array(chosen, np.int64)


def _all_features(
    training_set: TextTrainingSet,
    scaling: Scaling,
    order: Ints,
    phrases: Ints,
    arithmetic: Arithmetic,
) -> Floats:
    """Features of the examples in order, then of the phrases, float, shape (rows, dims)."""
    features = scaling.features(training_set.blocks, order, arithmetic.dtype)
    if len(phrases) and training_set.label_blocks is not None:
        extra = scaling.features(training_set.label_blocks, phrases, arithmetic.dtype)
        features = np.concatenate([features, extra])
    return arithmetic.features(features)


def _make_judge(
    training_set: TextTrainingSet,
    layout: Layout,
    chosen: CrossValidation,
    threshold: float,
    options: TextFitOptions,
) -> Judge:
    """Collect both sides of the split."""

    def is_training_example(part: Segment) -> bool:
        return not part.is_held and not part.is_phrase

    return Judge(
        label_names=training_set.label_names,
        training=layout.pieces(is_training_example),
        held=layout.pieces(lambda part: part.is_held),
        temperature=chosen.temperature,
        threshold=threshold,
        may_reject=options.out_of_domain_rate is not None,
    )


def _run_epochs(
    problem: HeadProblem, judge: Judge, options: TextFitOptions, on_epoch: OnEpoch
) -> _Epochs:
    """Fit on the training part, a few passes at a time, and report every epoch as it ends."""
    iterations = problem.iterations(None, _TOLERANCE)
    head = problem.head(problem.zeros())
    number, last = 0, TextEpoch(0, judge.metrics(head))
    while number != options.max_epochs:
        heads = list(islice(iterations, ITERATIONS_OF_EPOCH))
        if not heads and number > 0:
            return _Epochs(head, last, has_converged=True)
        head = heads[-1] if heads else head
        number += 1
        last = TextEpoch(number, judge.metrics(head))
        on_epoch(last)
    return _Epochs(head, last, has_converged=False)


def _refit(plan: _Plan, chosen: CrossValidation, head: Head, options: TextFitOptions) -> Head:
    """Go on with all examples, for as many passes as the epochs were allowed."""
    problem = HeadProblem(
        plan.layout.pieces(lambda part: True),
        plan.labels,
        chosen.penalty_inverse,
        plan.arithmetic,
    )
    limit = None if options.max_epochs is None else options.max_epochs * ITERATIONS_OF_EPOCH
    for following in islice(problem.iterations(head, _TOLERANCE), limit):
        head = following
    return head


def _make_report(plan: _Plan, chosen: CrossValidation, judge: Judge, epochs: _Epochs) -> TextReport:
    """Gather everything the metrics record and the card tell."""
    scores, truth = judge.scores(epochs.head)
    tests = len(truth)
    hits = round(epochs.last.metrics.test_accuracy * tests)
    shares = probabilities(chosen.logits, chosen.temperature)
    examples = len(plan.layout.order)
    out_of_fold = np.full((examples, plan.labels), np.nan, np.float32)
    out_of_fold[chosen.examples] = shares
    return TextReport(
        metrics=epochs.last.metrics,
        thresholds=label_thresholds(scores, truth, judge.label_names),
        curve=held_out_curve(scores, truth),
        accuracy_interval=metrics.wilson_interval(hits, tests),
        calibration_error=round(metrics.calibration_error(shares, chosen.truth), 6),
        brier_score=round(metrics.brier_score(shares, chosen.truth), 6),
        penalty_inverse=chosen.penalty_inverse,
        temperature=chosen.temperature,
        epochs=epochs.last.epoch,
        early_stopping=epochs.has_converged,
        training_examples=examples - tests,
        test_examples=tests,
        is_exact=examples <= EXACT_EXAMPLES,
        out_of_fold=out_of_fold,
    )


def _parameters(
    training_set: TextTrainingSet,
    plan: _Plan,
    head: Head,
    chosen: CrossValidation,
    threshold: float,
) -> TextParameters:
    """Round the head to what is stored."""
    scaling = plan.scaling
    uses = tuple(
        EncoderUse(name, training_set.encoder_digests.get(name, ""), len(mean))
        for name, mean in zip(scaling.names, scaling.means, strict=True)
    )
    return TextParameters(
        labels=tuple(training_set.label_names),
        encoders=uses,
        weights=head.weights.astype(np.float16),
        biases=head.biases.astype(np.float32),
        means=np.concatenate(scaling.means).astype(np.float32),
        norms=scaling.norms,
        temperature=chosen.temperature,
        threshold=threshold,
    )
