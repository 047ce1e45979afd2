"""Trains the head on the training part of the examples, and records metrics after each epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from chalicelib.engines.interface import TextEpoch
from chalicelib.engines.text.head.evaluation import SplitEvaluator, make_evaluator
from chalicelib.engines.text.head.regression import HeadObjective

if TYPE_CHECKING:
    from chalicelib.engines.interface import TextFitOptions
    from chalicelib.engines.text.head.out_of_fold import CrossValidation
    from chalicelib.engines.text.head.regression import SoftmaxHead
    from chalicelib.engines.text.head.rejector import Rejection
    from chalicelib.engines.text.plan import FitPlan

# Iterations per record of the learning curve, because single iterations give nearly equal metrics.
ITERATIONS_OF_EPOCH = 3
# Relative decrease of the loss below which a fit ends.
TOLERANCE = 5e-4


@dataclass(frozen=True, slots=True)
class Epochs:
    """A head that was trained on the training part of the examples, and a record per epoch."""

    evaluator: SplitEvaluator
    head: SoftmaxHead
    """The head after the last epoch."""
    last: TextEpoch
    """The record of the last epoch."""
    has_converged: bool
    """Whether training ended because the loss stopped falling."""


def train_epochs(
    plan: FitPlan,
    label_names: Sequence[str],
    choice: CrossValidation,
    rejection: Rejection,
    options: TextFitOptions,
    on_epoch: Callable[[TextEpoch], None],
) -> Epochs:
    """Train a head on the training part of the examples. An epoch is three iterations.

    Args:
        plan: the features, with the split into training and held-out part.
        label_names: labels in the dataset's order.
        choice: settings that the cross-validation chose, such as penalty and temperature.
        rejection: settings for the rejection of texts.
        options: options of the training.
        on_epoch: called after every epoch with its record.
    """
    may_reject = options.out_of_domain_rate is not None
    evaluator = make_evaluator(plan.layout, label_names, choice, rejection, may_reject=may_reject)
    batches = plan.layout.batches(lambda part: not part.is_held_out)
    problem = HeadObjective(batches, plan.labels, choice.penalty_inverse, plan.arithmetic)
    iterations = problem.iterations(None, TOLERANCE)
    head = problem.head(problem.zeros())
    number, last = 0, TextEpoch(0, evaluator.metrics(head))
    while number != options.max_epochs:
        heads = list(islice(iterations, ITERATIONS_OF_EPOCH))
        # A fit that converges at once still has one epoch, so that the curve is never empty.
        if not heads and number > 0:
            return Epochs(evaluator, head, last, has_converged=True)
        head = heads[-1] if heads else head
        number += 1
        last = TextEpoch(number, evaluator.metrics(head))
        on_epoch(last)
    return Epochs(evaluator, head, last, has_converged=False)
