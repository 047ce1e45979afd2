"""What the life of a training run and the learning of one kind of model agree upon.

The run (chalicelib/services/training/runs.py) owns lease, attempts and publication; a learner
(text_learning.py, vision_learning.py beside it) turns a dataset into a model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from chalicelib.domain.datasets.dataset import Dataset
from chalicelib.domain.jobs.spreading import PartWork
from chalicelib.domain.models.evaluation import Evaluation
from chalicelib.domain.models.model import Model
from chalicelib.domain.models.suspects import SuspectExample


class RunControl(Protocol):
    """The run's view of lease, time and progress."""

    def check(self) -> None:
        """Return while the run is owned.

        Raises:
            LeaseLost: another worker owns the run.
        """
        ...

    def remaining_seconds(self) -> float:
        """Time until the function is stopped, in seconds."""
        ...

    def report(self, share: float, epochs: int = 0) -> None:
        """Show the share that is done, 0 to 1, when it has grown and the last report is old.

        Raises:
            LeaseLost: another worker owns the run.
        """
        ...

    def is_due(self) -> bool:
        """Return whether the last report is old enough for another."""
        ...


class PartDelegation(Protocol):
    """What a run leaves to other workers (chalicelib/services/training/parts.py)."""

    def delegate(
        self, model: Model, stage: str, works: Sequence[PartWork], shares: tuple[float, float]
    ) -> None:
        """Give work away, once in a run; what is left of it later the run does itself.

        Args:
            model: the run, which is owned.
            stage: name of the work.
            works: its parts; none where it is too little to be given away.
            shares: progress of the run before and after it.

        Raises:
            PartsSent: the run has to wait for its parts.
        """
        ...

    def finish(self, model: Model, check: Callable[[int, int], None]) -> None:
        """Do the parts of a run that wait, the last ones first: the queue began with the others.

        Args:
            model: the run, which is owned.
            check: called between parts with the parts done and all parts; raises to stop.
        """
        ...


@dataclass(frozen=True)
class LearnedModel:
    """A model that was learnt and is not published yet."""

    artifact: bytes
    metrics: dict[str, Any]
    """metricsData of GET models/{id}."""
    card: dict[str, Any]
    labels: int
    examples: int
    """Examples it was learnt from."""
    training_seconds: float
    """Time to learn, in seconds, by all functions that took part."""
    early_stopping: bool
    """True when it stopped before the last allowed epoch."""
    last_epoch: int
    """Epochs really run."""
    train_size: int
    """Examples or pictures learnt from while metrics were measured."""
    test_size: int
    """Examples or pictures held out."""
    begun_at: datetime | None = None
    """When the first function of the run began; None when it was this one."""
    suspects: Sequence[SuspectExample] = ()
    """All examples whose labels it doubts, the most suspicious first; the card lists some."""
    evaluation: Evaluation | None = None
    """Answers to the dataset's own examples by heads that had not seen them; None: not kept."""


class Learner(Protocol):
    """Learns the models of one family of datasets."""

    def learn(self, model: Model, dataset: Dataset, control: RunControl) -> LearnedModel:
        """Learn, as far as possible from where an earlier function stopped.

        Raises:
            TrainingFailed: nothing can be learnt; says why, with the remedy.
            LeaseLost: another worker owns the run.
            TimedOut: what was done is kept; the next function goes on.
        """
        ...

    def discard(self, model: Model) -> None:
        """Remove what only a run that goes on needs."""
        ...
