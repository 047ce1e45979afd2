"""Computes the vectors and features of an upload in parts, a few parts at a time.

If all parts were queued at once, other jobs would have to wait. So the worker that has finished
part n sends the message of part n + UPLOAD_PARTS_AT_ONCE, as in a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from msgspec.structs import replace

from chalicelib import log
from chalicelib.domain.datasets.dataset import VISION, Dataset
from chalicelib.domain.jobs.messages import (
    EmbedJob,
    FeaturesJob,
)
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.examples.parts import PartStore
from chalicelib.stores.jobs.queues import EMBED, Queues
from chalicelib.stores.models.run_parts import part_after

# Queued parts of one upload. Batches have more, because callers wait for their results. A training
# that starts before the parts are done delegates what is missing.
UPLOAD_PARTS_AT_ONCE = 3

# Computes the part of a job within the remaining seconds; returns whether this call completed it.
EmbedPart = Callable[[EmbedJob, Callable[[], float]], bool]
FeaturesPart = Callable[[FeaturesJob, Callable[[], float]], bool]


class UploadPartService:
    """Queues the parts of uploads, and computes their vectors and features."""

    def __init__(
        self,
        parts: PartStore,
        queues: Queues,
        embed: EmbedPart,
        compute_features: FeaturesPart,
    ) -> None:
        self._parts = parts
        self._queues = queues
        self._embed = embed
        self._compute_features = compute_features

    def announce(self, dataset: Dataset) -> None:
        """Send the messages of the first parts of a dataset's current upload."""
        job = FeaturesJob if dataset.family == VISION else EmbedJob
        try:
            waiting = self._parts.waiting(dataset.dataset_id, dataset.receipt_id)
            for part in waiting[:UPLOAD_PARTS_AT_ONCE]:
                self._queues.send(EMBED, job.of(dataset, part=part))
        except StorageUnavailable:
            log.warning("fan_out_failed", dataset=dataset.dataset_id)

    def run(
        self,
        job: EmbedJob | FeaturesJob,
        remaining_seconds: Callable[[], float],
        delivery: int = 1,
    ) -> None:
        """Compute part n of an upload. Then send the message of part n + UPLOAD_PARTS_AT_ONCE.

        `remaining_seconds` returns the remaining time of the Lambda function. `delivery` is how
        many times the queue has delivered the message.
        """
        if isinstance(job, EmbedJob):
            is_done = self._embed(job, remaining_seconds)
        else:
            is_done = self._compute_features(job, remaining_seconds)
        if not is_done and delivery == 1:
            # A duplicate message: the worker that computes the part sends the next one.
            return
        upload = PurePosixPath(job.part).parent.name
        left = self._parts.waiting(job.dataset_id, upload)
        following = part_after(job.part, UPLOAD_PARTS_AT_ONCE)
        if job.part not in left and following in left:
            self._queues.send(EMBED, replace(job, part=following))
