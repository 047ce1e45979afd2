"""Computes delegated parts of trainings, on the workers of uploads and batches.

A training that needs many vectors or features divides this work into parts. It stores the parts,
extends its lease, and ends its Lambda invocation. The worker that finishes a part sends the message
of a later part, as in a batch. The last part resumes the training. If no part is finished for some
minutes, the lease ends. Then the training resumes, and computes the remaining parts itself, from
the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from chalicelib.domain.jobs.batch import PARTS_AT_ONCE
from chalicelib.domain.jobs.messages import TrainPartJob
from chalicelib.domain.jobs.spreading import PartWork
from chalicelib.domain.models.model import RUNNING, Model
from chalicelib.errors import PartsSent
from chalicelib.stores.examples.parts import process_parts
from chalicelib.stores.models.run_parts import RunPart, RunParts, part_after

if TYPE_CHECKING:
    from chalicelib.stores.jobs.turns import TrainingQueue
    from chalicelib.stores.models.models import ModelStore


class PartMaker(Protocol):
    """Computes and stores vectors of texts, or features of images, for one part."""

    def make_run_part(self, model: Model, part: RunPart) -> None:
        """Compute a part. A repeated call writes the same objects again."""
        ...

    def revert(self, account_id: str, family: str, dataset_id: int) -> None:
        """Delete data that was stored after its dataset had been deleted."""
        ...


class TrainingPartService:
    """Delegates parts of the work of trainings, and computes delegated parts."""

    def __init__(
        self,
        models: ModelStore,
        run_parts: RunParts,
        training_queue: TrainingQueue,
        makers: Mapping[str, PartMaker],
    ) -> None:
        self._models = models
        self._training_queue = training_queue
        self._parts = run_parts
        self._makers = makers

    def delegate(
        self, model: Model, stage: str, works: Sequence[PartWork], shares: tuple[float, float]
    ) -> None:
        """Delegate parts of a run to other workers; see `PartDelegation.delegate`."""
        # Once for each stage of a run: a resumed training computes what is left itself.
        if works and not self._parts.was_written(model, stage):
            self._parts.write(model, stage, works, shares)
            raise PartsSent(stage, min(len(works), PARTS_AT_ONCE))

    def finish(self, model: Model, check: Callable[[int, int], None]) -> None:
        """Compute the unfinished parts of a run; see `PartDelegation.finish`."""
        process_parts(lambda: self._parts.waiting(model), lambda key: self._make(model, key), check)

    def run(self, job: TrainPartJob, delivery: int = 1) -> None:
        """Compute a part of a training's work, then send the next part or resume the training.

        `delivery` is how many times the queue has delivered the message.
        """
        key, model = job.part, self._running(job)
        if model is None:
            return
        if not self._make(model, key) and delivery == 1:
            # A duplicate message: the worker that computed the part has sent the next one.
            return
        # The training may have ended or its dataset may be deleted since the part started.
        if self._running(job) is None:
            self._makers[model.family].revert(model.account_id, model.family, model.dataset_id)
            return
        left = self._parts.unfinished_keys(key)
        following = part_after(key, PARTS_AT_ONCE)
        queue, lent = self._training_queue, replace(model, fence=job.fence)
        if not left:
            queue.wake(lent)
            return
        queue.keep_waiting(lent, self._parts.progress(key, len(left)))
        if following in left:
            queue.send_part(lent, following)

    def _make(self, model: Model, key: str) -> bool:
        """Compute a part and delete its input; return False if the part was finished before."""
        part = self._parts.read(key)
        if part is None:
            return False
        self._makers[model.family].make_run_part(model, part)
        self._parts.delete_part(key)
        return True

    def _running(self, job: TrainPartJob) -> Model | None:
        """Return the model that a job trains; None if that training has ended."""
        model = self._models.find(job.account_id, job.model_id)
        is_same = model is not None and model.run == job.run
        return model if model is not None and is_same and model.status == RUNNING else None
