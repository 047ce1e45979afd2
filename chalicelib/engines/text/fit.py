"""Trains a text model on the vectors of examples. `fit` lists the steps in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from chalicelib.engines.interface import TextEpoch, TextFitOptions, TextTrainingSet
from chalicelib.engines.text.classifier import TrainedText
from chalicelib.engines.text.epochs import train_epochs
from chalicelib.engines.text.head.cross_validation import cross_validate
from chalicelib.engines.text.head.rejector import fit_rejection
from chalicelib.engines.text.plan import make_plan
from chalicelib.engines.text.report.training_report import make_report
from chalicelib.engines.text.served import fit_served
from chalicelib.engines.text.shift import add_margin
from chalicelib.engines.text.validation import check_training_set

if TYPE_CHECKING:
    OnEpoch = Callable[[TextEpoch], None]
    OnProgress = Callable[[float], None]

# Progress after cross-validation, which takes most of the time, and after the epochs.
_CROSS_VALIDATION_PART = 0.6
_EPOCHS_END = 0.8


def fit(
    training_set: TextTrainingSet,
    options: TextFitOptions,
    on_epoch: OnEpoch,
    on_progress: OnProgress = lambda fraction: None,
) -> TrainedText:
    """Train a text model.

    Args:
        training_set: vectors and labels.
        options: options of the training.
        on_epoch: called with the record of every epoch.
        on_progress: called with the fraction of the work that is done, from 0 to 1.

    Raises:
        TrainingFailed: no model can be trained on these examples. The message says what to do.
    """
    labels = check_training_set(training_set)
    plan = make_plan(training_set, labels, options)
    chosen = cross_validate(
        plan.layout,
        plan.labels,
        plan.folds,
        plan.arithmetic,
        lambda part: on_progress(_CROSS_VALIDATION_PART * part),
        plan.background,
    )
    rate = options.out_of_domain_rate
    rejection = fit_rejection(plan.layout, plan.background, plan.folds, chosen, rate)
    rejection = add_margin(plan, chosen, rejection, rate)
    # Metrics and curve come from a head that saw only the training part of the split. The served
    # head is then trained further with all examples.
    epochs = train_epochs(plan, training_set.label_names, chosen, rejection, options, on_epoch)
    on_progress(_EPOCHS_END)
    parameters = fit_served(training_set, plan, chosen, rejection, epochs.head, options.max_epochs)
    on_progress(1.0)
    report = make_report(plan, chosen, epochs, training_set.words, rejection.rejectors)
    return TrainedText(parameters, report)
