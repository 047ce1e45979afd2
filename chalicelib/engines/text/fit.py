"""Learns a text model from embedded examples: split, penalty, temperature, epochs, served head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.calibration import energies
from chalicelib.engines.interface import EncoderUse, TextEpoch, TextFitOptions, TextTrainingSet
from chalicelib.engines.text.classifier import TextParameters, TrainedText
from chalicelib.engines.text.head.cross_validation import CrossValidation, cross_validate
from chalicelib.engines.text.head.evaluation import SplitEvaluator
from chalicelib.engines.text.head.layout import Layout, RowRange
from chalicelib.engines.text.head.neighbours import NearestTexts, fit_neighbours
from chalicelib.engines.text.head.out_of_domain import rejection_threshold
from chalicelib.engines.text.head.regression import ExampleBatch, HeadObjective, SoftmaxHead
from chalicelib.engines.text.head.rejector import LearntRejectors, learn_rejectors
from chalicelib.engines.text.plan import FitPlan, make_plan
from chalicelib.engines.text.report.training_report import Epochs, make_report
from chalicelib.engines.text.validation import check_training_set

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Singles

    OnEpoch = Callable[[TextEpoch], None]
    OnProgress = Callable[[float], None]

ITERATIONS_OF_EPOCH = 3
"""Passes of the optimiser that make one record of the learning curve."""
_TOLERANCE = 5e-4
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
    plan = make_plan(training_set, labels, options)
    chosen = cross_validate(
        plan.layout,
        plan.labels,
        plan.folds,
        plan.arithmetic,
        lambda share: on_progress(_CROSS_VALIDATION_SHARE * share),
        plan.outside,
    )
    rate = options.out_of_domain_rate
    rejectors = learn_rejectors(plan.layout, plan.outside, plan.folds, chosen, rate)
    evaluator = _make_evaluator(training_set, plan.layout, chosen, options, rejectors)
    problem = HeadObjective(
        plan.layout.batches(lambda part: not part.is_held),
        plan.labels,
        chosen.penalty_inverse,
        plan.arithmetic,
    )
    epochs = _run_epochs(problem, evaluator, options, on_epoch)
    on_progress(0.5 + 0.5 * _CROSS_VALIDATION_SHARE)
    head = _refit(plan, chosen, epochs.head, options)
    on_progress(1.0)
    report = make_report(plan, chosen, evaluator, epochs, training_set.words, rejectors)
    parameters = _parameters(training_set, plan, head, chosen)
    return TrainedText(_rejecting(parameters, rejectors, chosen, options), report)


def _rejecting(
    parameters: TextParameters,
    rejectors: LearntRejectors | None,
    chosen: CrossValidation,
    options: TextFitOptions,
) -> TextParameters:
    """Add what rejects: what was learnt beside background texts, or a threshold of the energy."""
    if rejectors is not None:
        return replace(parameters, rejector=rejectors.served)
    found = energies(chosen.logits, chosen.temperature)
    return replace(parameters, threshold=rejection_threshold(found, options.out_of_domain_rate))


def _make_evaluator(
    training_set: TextTrainingSet,
    layout: Layout,
    chosen: CrossValidation,
    options: TextFitOptions,
    rejectors: LearntRejectors | None,
) -> SplitEvaluator:
    """Collect both sides of the split; the held-out side has no say in what it is judged by."""

    def is_training_example(part: RowRange) -> bool:
        return not part.is_held and not part.is_phrase

    trained = energies(chosen.logits[chosen.is_trained], chosen.metric_temperature)
    training = layout.batches(is_training_example)
    held = layout.batches(lambda part: part.is_held)
    rejector = None if rejectors is None else rejectors.metric
    evidence, labels = {}, len(training_set.label_names)
    if rejector is not None:
        evidence = {id(b): rejector.domain.evidence(b.features) for b in (*training, *held)}
    return SplitEvaluator(
        label_names=training_set.label_names,
        training=training,
        held=held,
        temperature=chosen.metric_temperature,
        threshold=rejection_threshold(trained, options.out_of_domain_rate),
        may_reject=options.out_of_domain_rate is not None,
        rejector=rejector,
        evidence=evidence,
        nearness_weight=chosen.nearness_weight,
        nearness=_nearness(layout, labels, training, held) if chosen.nearness_weight else {},
    )


def _nearness(
    layout: Layout, labels: int, training: Sequence[ExampleBatch], held: Sequence[ExampleBatch]
) -> dict[int, Singles]:
    """Nearness of each piece, by its `id`, to the training part of the split.

    Each training text is nearest to itself, so it is asked beside those of other folds alone.
    """
    folds = [part.fold for part in layout.ranges if not part.is_held and not part.is_phrase]
    whole = fit_neighbours(training, labels, 1.0)
    found = {id(batch): whole.nearness(batch.features) for batch in held}
    for fold, batch in zip(folds, training, strict=True):
        others = [one for place, one in zip(folds, training, strict=True) if place != fold]
        if others:
            found[id(batch)] = fit_neighbours(others, labels, 1.0).nearness(batch.features)
    return found


def _run_epochs(
    problem: HeadObjective, evaluator: SplitEvaluator, options: TextFitOptions, on_epoch: OnEpoch
) -> Epochs:
    """Fit on the training part, a few passes at a time, and report every epoch as it ends."""
    iterations = problem.iterations(None, _TOLERANCE)
    head = problem.head(problem.zeros())
    number, last = 0, TextEpoch(0, evaluator.metrics(head))
    while number != options.max_epochs:
        heads = list(islice(iterations, ITERATIONS_OF_EPOCH))
        if not heads and number > 0:
            return Epochs(head, last, has_converged=True)
        head = heads[-1] if heads else head
        number += 1
        last = TextEpoch(number, evaluator.metrics(head))
        on_epoch(last)
    return Epochs(head, last, has_converged=False)


def _refit(
    plan: FitPlan, chosen: CrossValidation, head: SoftmaxHead, options: TextFitOptions
) -> SoftmaxHead:
    """Go on with all examples, for as many passes as the epochs were allowed."""
    problem = HeadObjective(
        plan.layout.batches(lambda part: True),
        plan.labels,
        chosen.penalty_inverse,
        plan.arithmetic,
    )
    limit = None if options.max_epochs is None else options.max_epochs * ITERATIONS_OF_EPOCH
    for following in islice(problem.iterations(head, _TOLERANCE), limit):
        head = following
    return head


def _parameters(
    training_set: TextTrainingSet,
    plan: FitPlan,
    head: SoftmaxHead,
    chosen: CrossValidation,
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
        threshold=float("-inf"),
        neighbours=_neighbours(plan, chosen),
    )


def _neighbours(plan: FitPlan, chosen: CrossValidation) -> NearestTexts | None:
    """Keep all examples, where their nearness counts."""
    if not chosen.nearness_weight:
        return None
    examples = plan.layout.batches(lambda part: not part.is_phrase)
    return fit_neighbours(examples, plan.labels, chosen.nearness_weight)
