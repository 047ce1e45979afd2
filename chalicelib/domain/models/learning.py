"""Interfaces between a training run and the learners of the dataset types.

The run (chalicelib/services/training/runs.py) owns lease, attempts and publication. A learner
(text_learner.py and vision_learner.py in the same folder) turns a dataset into a model.
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
    """Gives a learner the lease, the remaining time and the progress of its run."""

    def check(self) -> None:
        """Raise LeaseLost if another worker owns the run."""
        ...

    def remaining_seconds(self) -> float:
        """Return the time until the function is stopped, in seconds."""
        ...

    def report(self, share: float, epochs: int = 0) -> None:
        """Store the progress, 0 to 1, if it has increased and some time has passed.

        Raises:
            LeaseLost: another worker owns the run.
        """
        ...

    def is_due(self) -> bool:
        """Return whether enough time has passed since the last progress report."""
        ...


class PartDelegation(Protocol):
    """Delegates work of a run to other workers (chalicelib/services/training/parts.py)."""

    def delegate(
        self, model: Model, stage: str, works: Sequence[PartWork], shares: tuple[float, float]
    ) -> None:
        """Delegate work to other workers, at most once per run; the run itself does what remains.

        Args:
            model: the model, whose run this worker owns.
            stage: name of the work.
            works: parts of the work; empty if there is too little to delegate.
            shares: progress of the run before and after the work, 0 to 1.

        Raises:
            PartsSent: the run has to wait for its parts.
        """
        ...

    def finish(self, model: Model, check: Callable[[int, int], None]) -> None:
        """Compute the waiting parts of a run in this process, from the last to the first.

        Args:
            model: the model, whose run this worker owns.
            check: called between parts with the numbers of finished and of all parts; raises to
                stop.
        """
        ...


@dataclass(frozen=True)
class LearnedModel:
    """A trained model that is not published yet."""

    artifact: bytes
    metrics: dict[str, Any]
    """`metricsData` of GET models/{id}."""
    card: dict[str, Any]
    labels: int
    examples: int
    training_seconds: float
    """Training time in seconds, of all functions that took part."""
    early_stopping: bool
    """Whether the training stopped before the last allowed epoch."""
    last_epoch: int
    train_size: int
    """Examples or images trained on while metrics were measured."""
    test_size: int
    begun_at: datetime | None = None
    """When the first function of the run began; None if it was this one."""
    suspects: Sequence[SuspectExample] = ()
    """All flagged examples, the most suspicious first; the card lists some of them."""
    evaluation: Evaluation | None = None
    """Out-of-fold answers to the dataset's own examples; None if not stored."""
    description: ImportedDescription | None = None
    """Type and language of an imported model, which its row does not know yet."""


class Adjuster(Protocol):
    """Changes the served version of a model to suit texts of users, without training it."""

    def learn(self, model: Model, control: RunControl) -> LearnedModel:
        """Adjust the served version.

        Raises:
            TrainingFailed: the texts or the version are gone.
            LeaseLost: another worker owns the run.
        """
        ...

    def discard(self, model: Model) -> None:
        """Delete the texts of an adjustment that has ended."""
        ...


class Importer(Protocol):
    """Reads models that were exported elsewhere."""

    def learn(self, model: Model, control: RunControl) -> LearnedModel:
        """Read the archive of an import.

        Raises:
            TrainingFailed: the archive cannot be imported; the message says why.
            LeaseLost: another worker owns the run.
        """
        ...

    def discard(self, model: Model) -> None:
        """Delete the archive of a run that has ended."""
        ...


class Learner(Protocol):
    """Trains the models of one family of datasets."""

    def learn(self, model: Model, dataset: Dataset, control: RunControl) -> LearnedModel:
        """Train a model, or continue where an earlier function stopped.

        Raises:
            TrainingFailed: the dataset cannot be trained; the message says why and what to do.
            LeaseLost: another worker owns the run.
            TimedOut: progress is saved; the next function continues.
        """
        ...

    def discard(self, model: Model) -> None:
        """Delete data that only an unfinished run needs."""
        ...
