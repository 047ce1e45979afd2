"""Fits one head: transforms features, stores them in a table, trains the head, and predicts.

Each `step` takes about a second. `places` are indexes of images, int, shape (n,).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from chalicelib.engines.arithmetic import arithmetic_for
from chalicelib.engines.vision.features.table import FeatureTable, Rows
from chalicelib.engines.vision.linear_head.fit import LinearFit, LinearFitOptions

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Array, Doubles, Floats, Halves, Ints
    from chalicelib.engines.vision.linear_head.linear import Loss
    from chalicelib.engines.vision.linear_head.targets import ImageTargets

    Arrays = dict[str, Array]

# A transformation is estimated from at most this many rows, to bound the time.
FIT_ROWS = 8_192


class Transform(Protocol):
    """Converts raw features to the input of a linear head."""

    @property
    def dims(self) -> int:
        """Length of a row of transformed features."""
        ...

    @property
    def unit(self) -> float:
        """Transformed values are rounded to multiples of this number, a power of two.

        The absolute value is at most 32,767 times this number.
        """
        ...

    def apply(self, raw: Halves) -> Doubles:
        """Transform raw features, float16, shape (n, raw dims), to float64, shape (n, dims)."""
        ...

    def arrays(self) -> Arrays:
        """Return the arrays of the transformation by name, for an artifact."""
        ...


class HeadSpec(Protocol):
    """Defines how an engine fits its heads: transformation, start, loss and penalty."""

    def fit_transform(self, raw: Halves, places: Ints) -> Transform:
        """Fit the transformation to the raw features of the training part.

        Args:
            raw: raw features of the training part, float16, shape (n, raw dims).
            places: index of the image of each row of `raw`, int, shape (n,).
        """
        ...

    def start(self, table: FeatureTable, rows: Rows, places: Ints) -> Floats:
        """Return the weights and biases at which the fit of a head starts.

        Args:
            table: table of transformed features.
            rows: maps rows of the table to images.
            places: indexes of the images to train on, int, shape (n,).

        Returns:
            The weights, then the biases, float, shape (dims + 1, labels).
        """
        ...

    def loss(self, places: Ints) -> Loss:
        """Return the loss function of a head for the training images `places`, int, shape (n,)."""
        ...

    def decay(self, choice: int, pictures: int) -> float:
        """Return the strength of the penalty, which keeps the weights near their start values.

        Args:
            choice: index of the penalty in the list of penalties to try.
            pictures: number of images that the head is trained on.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class HeadTask:
    """The task of fitting one head: images to train on, images to predict, and the penalty."""

    purpose: str
    """Purpose of the head.

    `choice`: to choose the penalty. `split`: for the metrics, on the training part of the split.
    `fold`: for out-of-fold predictions. `final`: for the finished model, on all images.
    """
    trained: Ints
    """Indexes of the images to train on, int, shape (n,)."""
    scored: Ints
    """Indexes of the images to predict at the end, int, shape (m,)."""
    epochs: int
    choice: int
    """Index of the penalty among those that are tried; see `HeadSpec.decay`."""
    raw_dims: int
    """Length of a raw row, from which the work is estimated."""

    def cost(self, rows: int, labels: int) -> float:
        """Estimate the number of multiplications of the task, as a measure of its duration."""
        visits = self.epochs * len(self.trained)
        return 1e9 + rows * self.raw_dims**2 + visits * (3e4 + 3.0 * self.raw_dims * labels)


@dataclass(frozen=True, slots=True, eq=False)
class PipelineInputs:
    """The data of a training that all its tasks share."""

    spec: HeadSpec
    rows: Rows
    """Source of raw features."""
    targets: ImageTargets
    ranks: Ints
    """A random order of the images, int, shape (images,)."""


class HeadPipeline:
    """The training of one linear head, in steps."""

    def __init__(
        self, task: HeadTask, inputs: PipelineInputs, rate: float, seed: tuple[int, ...]
    ) -> None:
        """Prepare a task.

        Args:
            task: the head to fit.
            inputs: data of the training.
            rate: learning rate at the first step.
            seed: seed of the order of images and of the choice of views.
        """
        self.task = task
        self._spec = inputs.spec
        self._rows = inputs.rows
        self._targets = inputs.targets
        self._ranks = inputs.ranks
        decay = inputs.spec.decay(task.choice, len(task.trained))
        self._plan = LinearFitOptions(task.trained, task.epochs, rate, decay, seed)
        self._saved: Arrays | None = None
        self._table: FeatureTable | None = None
        self._fit: LinearFit | None = None
        self.transform: Transform | None = None
        """Transformation of raw features; None until it is fitted."""

    @property
    def fit(self) -> LinearFit:
        """The fit of the head. Raises RuntimeError before the fit has begun."""
        if self._fit is None:
            raise RuntimeError("The fit of this task has not begun.")
        return self._fit

    @property
    def is_done(self) -> bool:
        """Whether the head is fitted."""
        return self._fit is not None and self._fit.is_done

    @property
    def share(self) -> float:
        """Progress of the task, 0 to 1. At 0.1, the table is filled and the fit begins."""
        filled = 0.0 if self._table is None else self._table.share
        return 0.1 * filled + 0.9 * (0.0 if self._fit is None else self._fit.share)

    def step(self) -> bool:
        """Do the next step; return whether an epoch has ended."""
        if self.transform is None:
            self.transform = self._fit_transform()
        elif self._table is None or not self._table.is_full:
            self._fill()
        elif self._fit is None:
            self._fit = self._begin(self._table)
        else:
            return self._fit.advance()
        return False

    def save(self) -> Arrays:
        """Return the state as arrays for `restore`; an empty mapping before the first batch."""
        if self._fit is None:
            return self._saved or {}
        return self._fit.save()

    def restore(self, arrays: Arrays) -> None:
        """Resume from the arrays that `save` returned.

        Features are not saved. So `step` first fills the table of features, then continues the fit.
        """
        self._saved = arrays or None

    def _fit_transform(self) -> Transform:
        trained = self.task.trained
        chosen = trained[np.argsort(self._ranks[trained], kind="stable")]
        ends = np.cumsum(self._rows.views[chosen])
        chosen = np.sort(chosen[ends <= max(FIT_ROWS, int(ends[0]))])
        rows = self._rows_of(chosen)
        raw = self._rows.raw(rows)
        return self._spec.fit_transform(raw, self._rows.places[rows])

    def _fill(self) -> None:
        transform = self.transform
        if transform is None:
            raise RuntimeError("A table needs a transformation.")
        if self._table is None:
            needed = np.concatenate([self.task.trained, self.task.scored])
            self._table = FeatureTable(
                self._rows,
                self._rows_of(needed),
                transform.apply,
                transform.dims,
                transform.unit,
            )
        self._table.fill()

    def _rows_of(self, places: Ints) -> Ints:
        is_chosen = np.zeros(len(self._rows.first), bool)
        is_chosen[places] = True
        return np.flatnonzero(is_chosen[self._rows.places])

    def _begin(self, table: FeatureTable) -> LinearFit:
        fit = LinearFit(
            self._plan,
            table,
            self._rows,
            self._targets,
            self._spec.loss(self.task.trained),
            arithmetic_for(len(self._plan.places)),
        )
        fit.begin(self._spec.start(table, self._rows, self.task.trained))
        if self._saved is not None:
            fit.restore(self._saved)
        return fit
