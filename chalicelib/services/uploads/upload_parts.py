"""Has the vectors and features of an upload computed part by part, some parts at a time.

All parts at once would keep whatever else the queue brings waiting for as long as the upload
takes: so whoever has done a part sends the one some places further on, as in a batch.
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
    embed_job,
    features_job,
)
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.examples.parts import PartStore
from chalicelib.stores.jobs.queues import EMBED, Queues
from chalicelib.stores.models.run_parts import further

PARTS_AT_ONCE = 3
"""Parts of one upload that wait or are worked on at a time: fewer than of a batch, for which
somebody waits, while a training that comes too early gives away what is missing."""

# Does the part of a job in the time that is left, in seconds; returns whether it is done now.
EmbedPart = Callable[[EmbedJob, Callable[[], float]], bool]
FeaturesPart = Callable[[FeaturesJob, Callable[[], float]], bool]


class UploadPartService:
    """Sends the parts of uploads, and does them."""

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
        """Send the first parts of a dataset's upload; one that is lost is left to a training."""
        job = features_job if dataset.family == VISION else embed_job
        try:
            waiting = self._parts.waiting(dataset.dataset_id, dataset.receipt_id)
            for part in waiting[:PARTS_AT_ONCE]:
                self._queues.send(EMBED, job(dataset, part))
        except StorageUnavailable:
            log.warning("fan_out_failed", dataset=dataset.dataset_id)

    def run(
        self,
        job: EmbedJob | FeaturesJob,
        remaining_seconds: Callable[[], float],
        delivery: int = 1,
    ) -> None:
        """Do a part, and send the one that comes after it.

        Args:
            job: as made by `embed_job` or `features_job`.
            remaining_seconds: time left of this function's run.
            delivery: how often the queue has brought this message.
        """
        if isinstance(job, EmbedJob):
            is_done = self._embed(job, remaining_seconds)
        else:
            is_done = self._compute_features(job, remaining_seconds)
        if not is_done and delivery == 1:
            # One too many: whoever does the part sends what comes after it.
            return
        upload = PurePosixPath(job.part).parent.name
        left = self._parts.waiting(job.dataset_id, upload)
        following = further(job.part, PARTS_AT_ONCE)
        if job.part not in left and following in left:
            self._queues.send(EMBED, replace(job, part=following))
