"""Interfaces between a training run and the learners of the dataset types.

The run (chalicelib/services/training/runs.py) holds the lease, counts attempts and publishes the
model. A learner (text_learner.py and vision_learner.py in the same folder) trains the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from chalicelib.domain.datasets.dataset import Dataset
from chalicelib.domain.jobs.imported_model import ImportedDescription
from chalicelib.domain.jobs.spreading import PartWork
from chalicelib.domain.models.evaluation import Evaluation
from chalicelib.domain.models.model import Model
from chalicelib.domain.models.suspects import SuspectExample


class RunControl(Protocol):
    """A training run as its learner sees it: lease check, remaining time and progress report."""

    def check(self) -> None:
        """Raise LeaseLost if another worker owns the run."""
        ...

    def remaining_seconds(self) -> float:
        """Return the time until Lambda stops this process, in seconds."""
        ...

    def report(self, share: float, epochs: int = 0) -> None:
        """Store the progress of the run if it has increased and some time has passed.

        Args:
            share: progress, 0 to 1.
            epochs: number of finished epochs.

        Raises:
            LeaseLost: another worker owns the run.
        """
        ...

    def is_due(self) -> bool:
        """Return whether enough time has passed since the last report to store another one."""
        ...


class PartDelegation(Protocol):
    """Delegates parts of a run to other workers (chalicelib/services/training/parts.py)."""

    def delegate(
        self, model: Model, stage: str, works: Sequence[PartWork], shares: tuple[float, float]
    ) -> None:
        """Delegate parts of a run to other workers, at most once for each stage of the run.

        A stage is the work for one encoder or extractor. When the run resumes, it computes the
        unfinished parts itself.

        `works` is empty if there is too little to delegate. `shares` is the progress of the run at
        the start and at the end of the stage, 0 to 1.

        Raises:
            PartsSent: the run has to wait for its parts.
        """
        ...

    def finish(self, model: Model, check: Callable[[int, int], None]) -> None:
        """Compute the unfinished parts of a run in this process, from the last to the first.

        `check` is called after each part with the numbers of finished parts and of all parts.
        `check` may raise an error to stop.
        """
        ...


@dataclass(frozen=True)
class LearnedModel:
    """A trained model that is not stored as a version yet."""

    artifact: bytes
    metrics: dict[str, Any]
    """The value of `metricsData` in the answer to GET models/{id}."""
    card: dict[str, Any]
    labels: int
    examples: int
    training_seconds: float
    """Training time in seconds, summed over all Lambda invocations of the run."""
    early_stopping: bool
    """Whether the training stopped before the last allowed epoch."""
    last_epoch: int
    train_size: int
    """Number of examples or images on which the model with the reported metrics was trained."""
    test_size: int
    begun_at: datetime | None = None
    """When the run's first Lambda invocation began; None if the present invocation is the first."""
    suspects: Sequence[SuspectExample] = ()
    """All flagged examples, the most suspicious first. The model card lists some of them."""
    evaluation: Evaluation | None = None
    """Out-of-fold predictions for the dataset's examples; None if none are stored."""
    description: ImportedDescription | None = None
    """Type and language of an imported model; None for a model trained here."""


class Adjuster(Protocol):
    """Adjusts the served version of a model to texts of users, without training it again."""

    def learn(self, model: Model, control: RunControl) -> LearnedModel:
        """Return the adjusted model.

        Raises:
            LeaseLost: another worker owns the run.
            TrainingFailed: the users' texts or the served version were deleted.
        """
        ...

    def discard(self, model: Model) -> None:
        """Delete the texts of an adjustment after its end."""
        ...


class Importer(Protocol):
    """Reads models that another installation exported."""

    def learn(self, model: Model, control: RunControl) -> LearnedModel:
        """Read the archive of an import and return its model.

        Raises:
            LeaseLost: another worker owns the run.
            TrainingFailed: the archive cannot be imported; the message says why.
        """
        ...

    def discard(self, model: Model) -> None:
        """Delete the archive of an import after its end."""
        ...


class Learner(Protocol):
    """Trains the models of one family of datasets."""

    def learn(self, model: Model, dataset: Dataset, control: RunControl) -> LearnedModel:
        """Train a model, or resume where an earlier Lambda invocation stopped.

        Raises:
            LeaseLost: another worker owns the run.
            TrainingFailed: the dataset cannot be trained; the message says why and what to do.
            TimedOut: the time is up. The progress is saved, and the next invocation resumes.
        """
        ...

    def discard(self, model: Model) -> None:
        """Delete the saved state of a run that has ended."""
        ...
