"""Trains a linear head batch by batch. The state can be saved between any two batches.

The order of images in an epoch depends only on the seed and the epoch number, so it is not saved.
`places` are indexes of images, int, shape (n,).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.linear_head.linear import LinearHead, Loss, cosine_rate

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Array, Floats, Ints, Singles
    from chalicelib.engines.arithmetic import Arithmetic
    from chalicelib.engines.vision.features.table import FeatureTable, Rows
    from chalicelib.engines.vision.linear_head.targets import ImageTargets

# Initial learning rate of Adam at the API's learning rate 0.001.
HIGHEST_RATE = 2e-3
# Images of a batch.
SMALL_BATCH = 32
_MOST_BATCHES = 400
_SCORED_ROWS = 2_048
_STEP_WORK = 6e8
_BATCH_WORK = 1e6
_UPDATE_PASSES = 16


def batch_size(pictures: int) -> int:
    """Return the number of images per batch: 32, or more if an epoch would exceed 400 batches."""
    return SMALL_BATCH * max(1, -(-pictures // (SMALL_BATCH * _MOST_BATCHES)))


@dataclass(frozen=True, slots=True, eq=False)
class LinearFitOptions:
    """Options for training one linear head."""

    places: Ints
    """Indexes of the images to train on, int, shape (n,)."""
    epochs: int
    rate: float
    """Learning rate at the first step."""
    decay: float
    """Strength of the penalty on the squared distance of the weights from their start."""
    seed: tuple[int, ...]
    """Seed of the order of images and of their views."""

    @property
    def batches(self) -> int:
        """Number of batches in one epoch."""
        return -(-len(self.places) // batch_size(len(self.places)))


class LinearFit:
    """The training of one linear head. It can be saved and resumed."""

    def __init__(
        self,
        plan: LinearFitOptions,
        table: FeatureTable,
        rows: Rows,
        targets: ImageTargets,
        loss: Loss,
        arithmetic: Arithmetic,
    ) -> None:
        self._plan = plan
        self._table = table
        self._rows = rows
        self._targets = targets
        self._loss = loss
        self._arithmetic = arithmetic
        self._order: tuple[int, Ints] = (-1, np.empty(0, np.int64))
        self._start: Floats = np.empty(0)
        self.head = LinearHead.starting_at(self._start)

    def begin(self, start: Floats) -> None:
        """Set the initial weights and biases, float, shape (dims + 1, labels)."""
        self._start = self._arithmetic.weights(start.astype(self._arithmetic.dtype))
        self.head = LinearHead.starting_at(self._start)

    @property
    def epoch(self) -> int:
        """Number of finished epochs."""
        return self.head.steps // self._plan.batches

    @property
    def is_done(self) -> bool:
        """Whether all epochs have ended."""
        return self.epoch >= self._plan.epochs

    @property
    def share(self) -> float:
        """Progress of the training, 0 to 1."""
        return self.head.steps / (self._plan.batches * self._plan.epochs)

    def advance(self) -> bool:
        """Take some training steps in the current epoch; return whether the epoch has ended."""
        size = self.head.values.size
        batch = batch_size(len(self._plan.places))
        count = max(1, int(_STEP_WORK / (_BATCH_WORK + size * (2 * batch + _UPDATE_PASSES))))
        for _ in range(count):
            self._take_step()
            if self.head.steps % self._plan.batches == 0:
                return True
        return False

    def logits(self, places: Ints) -> Singles:
        """Return the logits, float32, shape (n, labels), for view 0 of the images `places`."""
        scores = np.empty((len(places), self._targets.size), np.float32)
        for first in range(0, len(places), _SCORED_ROWS):
            part = places[first : first + _SCORED_ROWS]
            scores[first : first + _SCORED_ROWS] = self.head.logits(
                self._features(self._rows.first[part])
            )
        return scores

    def mean_loss(self, logits: Floats, places: Ints) -> float:
        """Return the mean loss over the images `places`, given their logits.

        Args:
            logits: logits of the images, float, shape (n, labels).
            places: indexes of the images, int, shape (n,).
        """
        total = 0.0
        for first in range(0, len(places), _SCORED_ROWS):
            part = places[first : first + _SCORED_ROWS]
            scores = logits[first : first + _SCORED_ROWS].astype(self._arithmetic.dtype)
            wanted = self._targets.dense(part, self._arithmetic.dtype)
            losses = self._loss.losses(scores, wanted, self._arithmetic)
            total += float(np.add.reduce(losses.astype(np.float64)))
        return total / max(len(places), 1)

    def save(self) -> dict[str, Array]:
        """Return the state as arrays; `restore` resumes from them."""
        head = self.head
        return {
            "values": head.values,
            "first": head.first,
            "second": head.second,
            "steps": np.array([head.steps]),
        }

    def restore(self, arrays: dict[str, Array]) -> None:
        """Resume from the arrays that `save` returned; call `begin` first."""
        dtype = self._arithmetic.dtype
        self.head = LinearHead(
            arrays["values"].astype(dtype),
            arrays["first"].astype(dtype),
            arrays["second"].astype(dtype),
            int(arrays["steps"][0]),
        )

    def _take_step(self) -> None:
        plan, head = self._plan, self.head
        epoch, place = divmod(head.steps, plan.batches)
        batch = batch_size(len(plan.places))
        rows = self._epoch_rows(epoch)[place * batch : (place + 1) * batch]
        features = self._features(rows)
        wanted = self._targets.dense(self._rows.places[rows], self._arithmetic.dtype)
        residuals = self._loss.residuals(head.logits(features), wanted, self._arithmetic)
        gradient = head.gradient(features, self._arithmetic.residuals(residuals))
        # Biases are not decayed, because they represent the frequency of a label.
        gradient[:-1] += plan.decay * (head.values[:-1] - self._start[:-1])
        rate = cosine_rate(plan.rate, head.steps, plan.batches * plan.epochs)
        head.update(gradient, rate, self._arithmetic)

    def _epoch_rows(self, epoch: int) -> Ints:
        if self._order[0] != epoch:
            generator = np.random.default_rng([*self._plan.seed, epoch])
            places = generator.permutation(self._plan.places)
            draws = generator.random(len(places))
            views = (draws * self._rows.views[places]).astype(np.int64)
            self._order = (epoch, self._rows.first[places] + views)
        return self._order[1]

    def _features(self, rows: Ints) -> Floats:
        features: Floats = self._table.take(rows).astype(self._arithmetic.dtype, copy=False)
        return features
