"""Trains the head of the finished model on all examples, and rounds the weights to float16."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.interface import EncoderUse
from chalicelib.engines.text.classifier import TextParameters
from chalicelib.engines.text.epochs import ITERATIONS_OF_EPOCH, TOLERANCE
from chalicelib.engines.text.head.neighbours import fit_neighbours
from chalicelib.engines.text.head.regression import HeadObjective

if TYPE_CHECKING:
    from chalicelib.engines.interface import TextTrainingSet
    from chalicelib.engines.text.head.out_of_fold import CrossValidation
    from chalicelib.engines.text.head.regression import SoftmaxHead
    from chalicelib.engines.text.head.rejector import Rejection
    from chalicelib.engines.text.plan import FitPlan


def fit_served(
    training_set: TextTrainingSet,
    plan: FitPlan,
    choice: CrossValidation,
    rejection: Rejection,
    head: SoftmaxHead,
    max_epochs: int | None,
) -> TextParameters:
    """Continue the training of `head` on all examples; return the parameters of the model.

    Args:
        training_set: labels of the examples, and their vectors from each encoder.
        plan: features and their scaling.
        choice: settings that the cross-validation chose, such as penalty and temperature.
        rejection: settings for the rejection of texts.
        head: the head to start from; it was trained on the training part only.
        max_epochs: maximum number of epochs; None: no limit, train until the loss stops falling.
    """
    batches = plan.layout.batches(lambda part: True)
    problem = HeadObjective(batches, plan.labels, choice.penalty_inverse, plan.arithmetic)
    limit = None if max_epochs is None else max_epochs * ITERATIONS_OF_EPOCH
    for following in islice(problem.iterations(head, TOLERANCE), limit):
        head = following
    texts = plan.layout.batches(lambda part: not part.is_phrase)
    weight, scaling = choice.nearness_weight, plan.scaling
    uses = tuple(
        EncoderUse(name, training_set.encoder_digests.get(name, ""), len(mean))
        for name, mean in zip(scaling.names, scaling.means, strict=True)
    )
    return TextParameters(
        labels=tuple(training_set.label_names),
        encoders=uses,
        # Float16 halves the size of the artifact.
        weights=head.weights.astype(np.float16),
        biases=head.biases.astype(np.float32),
        means=np.concatenate(scaling.means).astype(np.float32),
        norms=scaling.norms,
        temperature=choice.temperature,
        threshold=rejection.threshold,
        rejector=None if rejection.rejectors is None else rejection.rejectors.served_rejector,
        neighbours=fit_neighbours(texts, plan.labels, weight) if weight else None,
        windows=training_set.reading,
    )
