"""Has the vectors and features of an upload computed part by part, some parts at a time.

All parts at once would keep whatever else the queue brings waiting for as long as the upload
takes: so whoever has done a part sends the one some places further on, as in a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from chalicelib import log
from chalicelib.domain.datasets.dataset import VISION, Dataset
from chalicelib.domain.jobs.messages import Job, embed_job, features_job
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.examples.parts import PartStore
from chalicelib.stores.jobs.queues import EMBED, Queues
from chalicelib.stores.models.run_parts import further

PARTS_AT_ONCE = 3
"""Parts of one upload that wait or are worked on at a time: fewer than of a batch, for which
somebody waits, while a training that comes too early gives away what is missing."""

MakePart = Callable[[Job, Callable[[], float]], bool]
"""Does the part of a job in the time that is left, in seconds, and tells whether it is done now."""


class UploadPartService:
    """Sends the parts of uploads, and does them."""

    def __init__(
        self, parts: PartStore, queues: Queues, embed: MakePart, compute_features: MakePart
    ) -> None:
        self._parts = parts
        self._queues = queues
        self._makers = {"embed": embed, "features": compute_features}

    def announce(self, dataset: Dataset) -> None:
        """Send the first parts of a dataset's upload; one that is lost is left to a training."""
        job = features_job if dataset.family == VISION else embed_job
        try:
            waiting = self._parts.waiting(dataset.dataset_id, dataset.receipt_id)
            for part in waiting[:PARTS_AT_ONCE]:
                self._queues.send(EMBED, job(dataset, part))
        except StorageUnavailable:
            log.warning("fan_out_failed", dataset=dataset.dataset_id)

    def run(self, job: Job, remaining_seconds: Callable[[], float], delivery: int = 1) -> None:
        """Do a part, and send the one that comes after it.

        Args:
            job: as made by `embed_job` or `features_job`.
            remaining_seconds: time left of this function's run.
            delivery: how often the queue has brought this message.
        """
        part = str(job["part"])
        if not self._makers[str(job["job"])](job, remaining_seconds) and delivery == 1:
            # One too many: whoever does the part sends what comes after it.
            return
        upload = PurePosixPath(part).parent.name
        left = self._parts.waiting(int(str(job["dataset_id"])), upload)
        following = further(part, PARTS_AT_ONCE)
        if part not in left and following in left:
            self._queues.send(EMBED, {**job, "part": following})
