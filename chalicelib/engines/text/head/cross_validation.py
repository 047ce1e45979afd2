"""Chooses the penalty, the temperature and other settings of a head by cross-validation.

Examples are split into a training part and a held-out part. The metrics are measured on the
held-out part. All examples of both parts are also divided into folds. For each fold, a head is
trained on the other folds and predicts this fold. So the data report can look for label errors in
all examples. Settings that affect the metrics are chosen by predictions for the training part only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from chalicelib.engines.arithmetic import EXACT_EXAMPLES
from chalicelib.engines.text.head.layout import join_folds
from chalicelib.engines.text.head.neighbours import weigh_nearest_texts
from chalicelib.engines.text.head.out_of_fold import CrossValidation, calibrate, default_settings
from chalicelib.engines.text.head.penalty import choose_penalty

if TYPE_CHECKING:
    from chalicelib.engines.arithmetic import Arithmetic
    from chalicelib.engines.text.background import BackgroundFolds
    from chalicelib.engines.text.head.layout import Layout


# With more examples than this, a single fold is enough to choose the penalty.
CHOOSING_EXAMPLES = 2_000


def cross_validate(
    layout: Layout,
    labels: int,
    folds: Sequence[int],
    arithmetic: Arithmetic,
    on_progress: Callable[[float], None],
    background: BackgroundFolds | None = None,
) -> CrossValidation:
    """Hold out each of `folds` once, and choose the settings of a head from the predictions.

    Args:
        layout: features and labels, sorted by fold.
        labels: number of labels.
        folds: folds to hold out, one after the other.
        arithmetic: rounds the numbers of a fit.
        on_progress: called with the fraction of the work that is done, from 0 to 1.
        background: background texts (out-of-domain examples), which the heads also predict.

    Returns:
        The settings, and the out-of-fold logits. If no fold has an example, the settings are the
        `default_settings`.
    """
    every = [layout.hold_out(fold, background) for fold in folds]
    held_out = [fold for fold in every if len(fold.truth)]
    if not held_out:
        return default_settings(labels)
    whole = join_folds(held_out)
    choosing = join_folds(held_out[:1]) if len(layout.order) > CHOOSING_EXAMPLES else whole
    choice = choose_penalty(choosing, whole, labels, arithmetic, on_progress)
    nearest = None
    # Large sets use plain arithmetic, in which cosines are not exact.
    if len(layout.order) <= EXACT_EXAMPLES and len(held_out) > 1:
        nearest = weigh_nearest_texts(whole, choice.scores, labels)
    return calibrate(whole, choice, nearest)
