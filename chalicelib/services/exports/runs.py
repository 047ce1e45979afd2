"""Writes exports: a worker reads a dataset or model and puts one file into the bucket.

Every step may be repeated, so the job may be delivered twice or resumed by another worker.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypeVar

from chalicelib import journal, log
from chalicelib.config import Settings
from chalicelib.domain.datasets.dataset import DELETION_PENDING, DETECTION, DatasetView, Label
from chalicelib.domain.datasets.example import Example
from chalicelib.domain.jobs.export import CSV, JSONL, SUCCEEDED, Export
from chalicelib.domain.jobs.messages import ExportJob
from chalicelib.errors import BadRequest, LeaseLost, StorageUnavailable, TimedOut
from chalicelib.formats.exports.archives import (
    BOX_ARCHIVES,
    ExportArchive,
    ExportedPicture,
    PictureFolders,
)
from chalicelib.formats.exports.box_groups import BoxGroups
from chalicelib.formats.exports.texts import write_csv, write_jsonl
from chalicelib.stores.jobs.heartbeats import Heartbeat

if TYPE_CHECKING:
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.datasets.labels import LabelStore
    from chalicelib.stores.examples.examples import ExampleStore
    from chalicelib.stores.examples.pictures import PictureStore
    from chalicelib.stores.jobs.events import Events
    from chalicelib.stores.jobs.exports import ExportStore

Wanted = TypeVar("Wanted")
Labelled = Iterable[tuple[Example, Label]]
# Receives the digest of an image that is not in the bucket.
OnGap = Callable[[str], None]
_TEXT_FORMATS = {CSV: write_csv, JSONL: write_jsonl}


class ExampleWriter:
    """Writes the examples of a dataset: texts, images in folders, or images with boxes."""

    def __init__(
        self,
        examples: ExampleStore,
        pictures: PictureStore,
        most_entries: int,
    ) -> None:
        self._examples = examples
        self._pictures = pictures
        self._most_entries = most_entries

    def write(
        self,
        view: DatasetView,
        sources: Sequence[str],
        kind: str,
        file: BinaryIO,
        check: Callable[[], None],
        on_gap: OnGap,
    ) -> int:
        """Write the examples of a dataset.

        Args:
            view: the dataset.
            sources: `upload`, `feedback` or both.
            kind: format of the file.
            file: receives the file; stays open.
            check: called before each example; may raise an error to stop.
            on_gap: called for each image whose file is missing; may raise an error to stop. If it
                raises no error, the image is left out.

        Returns:
            The number of examples written.

        Raises:
            BadRequest: the archive would have more files than an upload may have.
        """
        labelled = self.labelled(view, sources, check)
        if kind in _TEXT_FORMATS:
            rows = ((example.name, label.name) for example, label in labelled)
            return _TEXT_FORMATS[kind](file, rows, [label.name for label in view.labels])
        dataset_id = view.dataset.dataset_id
        if view.dataset.type == DETECTION:
            return self._write_boxes(view, kind, file, labelled, on_gap)
        count = 0
        wanted = ((pair, pair[0].picture) for pair in labelled)
        with PictureFolders(file) as archive:
            for (example, label), content in self._contents(dataset_id, wanted, on_gap):
                archive.add(label.name, example.name, content)
                self._require_capacity(archive)
                count += 1
        return count

    def labelled(
        self, view: DatasetView, sources: Sequence[str], check: Callable[[], None]
    ) -> Iterator[tuple[Example, Label]]:
        """Yield all examples of the sources in order, each with its label."""
        labels = {label.label_id: label for label in view.labels}
        dataset = view.dataset
        for source in sources:
            for example in self._examples.read_all(dataset.dataset_id, source, dataset.counts):
                check()
                yield example, labels[example.label_id]

    def _write_boxes(
        self, view: DatasetView, kind: str, file: BinaryIO, labelled: Labelled, on_gap: OnGap
    ) -> int:
        """Write each image once with all of its boxes; return the number of boxes."""
        places = {label.label_id: place for place, label in enumerate(view.labels)}
        begin, names, count = BOX_ARCHIVES[kind], [one.name for one in view.labels], 0
        # Boxes of an image are under several labels, so they are grouped on disk first.
        with BoxGroups() as groups, begin(file, names) as archive:
            groups.fill(
                (example.picture, example.name, places[label.label_id], example.box)
                for example, label in labelled
                if example.box is not None
            )
            wanted = ((group, group.picture) for group in groups)
            for group, content in self._contents(view.dataset.dataset_id, wanted, on_gap):
                archive.add(ExportedPicture(group.name, content, group.boxes))
                self._require_capacity(archive)
                count += len(group.boxes)
            archive.finish()
            self._require_capacity(archive)
        return count

    def _contents(
        self, dataset_id: int, items: Iterable[tuple[Wanted, str]], on_gap: OnGap
    ) -> Iterator[tuple[Wanted, bytes]]:
        """Yield each item with the bytes of its image. Several images are read at once."""
        named = (((item, digest), digest) for item, digest in items)
        for (item, digest), content in self._pictures.read_ahead(dataset_id, named):
            if content is None:
                on_gap(digest)
            else:
                yield item, content

    def _require_capacity(self, archive: ExportArchive) -> None:
        if archive.entries > self._most_entries:
            raise BadRequest(
                f"The export has more than {self._most_entries:,} files, the most that an upload "
                "of one archive takes. Export uploads and feedback apart, or choose the format zip."
            )


# Remaining time of a function at which writing stops, so that the outcome can still be stored, in
# seconds.
RESERVE_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class ExportRunServiceStores:
    """Stores used by `ExportRunService`."""

    datasets: DatasetStore
    events: Events
    exports: ExportStore
    labels: LabelStore


class ModelWriter(Protocol):
    """Writes models to export files."""

    def model(self, export: Export) -> object:
        """Return the model of an export; raise BadRequest if it was deleted."""

    def write(self, export: Export, file: BinaryIO, check: Callable[[], None]) -> None:
        """Write the archive of an export; raise BadRequest if that is not possible."""


class ExportRunService:
    """Runs the export jobs that the queue delivers."""

    def __init__(
        self,
        stores: ExportRunServiceStores,
        examples: ExampleWriter,
        bundles: ModelWriter,
        settings: Settings,
    ) -> None:
        self._stores = stores
        self._examples = examples
        self._bundles = bundles
        self._settings = settings

    def run(
        self, job: ExportJob, remaining_seconds: Callable[[], float], delivery: int = 1
    ) -> None:
        """Write one export, unless it has ended or another worker owns it.

        `remaining_seconds` returns the remaining time of the Lambda function. `delivery` is how
        many times the queue has delivered the message.
        """
        export = self._stores.exports.acquire(job.account_id, job.export_id)
        if export is None:
            self._emit_again(job, delivery)
            return
        try:
            self._attempt(export, remaining_seconds)
        except LeaseLost:
            log.warning("export_lease_lost", export=export.export_id)

    def _attempt(self, export: Export, remaining_seconds: Callable[[], float]) -> None:
        """Write an export file, and store in the export's row whether the attempt succeeded."""
        exports = self._stores.exports
        if export.attempts > self._settings.max_attempts:
            self._give_up(export, export.last_error)
            return
        try:
            self._write(export, remaining_seconds)
        except (BadRequest, TimedOut) as refusal:
            exports.fail(export, str(refusal))
        except LeaseLost:
            raise
        except Exception as error:
            log.error("export_interrupted", error, export=export.export_id)
            cause = "the storage did not answer" if isinstance(error, StorageUnavailable) else ""
            if export.attempts >= self._settings.max_attempts:
                self._give_up(export, cause)
            else:
                exports.release(export, cause)
            raise

    def _write(self, export: Export, remaining_seconds: Callable[[], float]) -> None:
        """Write a file while a heartbeat renews the export's lease, then publish the file."""
        exports = self._stores.exports
        self._require_owner(export)
        heartbeat = Heartbeat(lambda: exports.renew(export), self._settings.lease_seconds)
        with heartbeat, tempfile.TemporaryFile() as file:

            def check() -> None:
                heartbeat.check()
                if remaining_seconds() < RESERVE_SECONDS:
                    raise TimedOut(
                        "The export was not written in the time of one run. Export uploads and "
                        "feedback apart, or a smaller dataset."
                        if export.model is None
                        else "The export was not written in the time of one run. Try again later."
                    )

            examples = self._write_file(export, file, check)
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            exports.put_file(export, file)
            heartbeat.check()
        # The key of the file holds the fence, so a stalled worker cannot overwrite this file.
        exports.finish(export, examples, size)
        journal.export_done(export.export_id, export.format, examples, size)
        self._emit(export)
        # A deletion that ran before the file existed could not delete it.
        self._delete_with_owner(export)

    def _emit(self, export: Export) -> None:
        model, ids = export.model, dict[str, str | int](id=export.export_id)
        if model is None:
            ids["datasetId"] = export.dataset_id
        else:
            ids["modelId"] = model.model_id
        self._stores.events.emit(export.account_id, "export.ready", family=export.family, **ids)

    def _emit_again(self, job: ExportJob, delivery: int) -> None:
        """After a redelivery, emit the export's event, because it may not have been emitted."""
        if delivery > 1:
            export = self._stores.exports.find(job.account_id, job.export_id)
            if export is not None and export.status == SUCCEEDED:
                self._emit(export)

    def _write_file(self, export: Export, file: BinaryIO, check: Callable[[], None]) -> int:
        """Write the model or the dataset; return the number of examples, 0 for a model."""
        if export.model is not None:
            self._bundles.write(export, file, check)
            return 0
        return self._examples.write(
            self._view(export), export.sources, export.format, file, check, _refuse_gap
        )

    def _view(self, export: Export) -> DatasetView:
        stores = self._stores
        dataset = stores.datasets.find(export.account_id, export.family, export.dataset_id)
        if dataset is None or dataset.status == DELETION_PENDING:
            raise BadRequest(f"Dataset {export.dataset_id} was deleted before it was exported.")
        return stores.labels.view(dataset)

    def _require_owner(self, export: Export) -> None:
        """Raise BadRequest if the exported dataset or model was deleted."""
        if export.model is None:
            self._view(export)
        else:
            self._bundles.model(export)

    def _delete_with_owner(self, export: Export) -> None:
        """Delete the export file if its dataset or model was deleted while the export ran."""
        try:
            self._require_owner(export)
        except BadRequest:
            self._stores.exports.delete(export)

    def _give_up(self, export: Export, cause: str) -> None:
        tries = self._settings.max_attempts
        known = f" The last time, {cause}." if cause else ""
        message = f"The export was interrupted {tries} times.{known} Create it again later."
        self._stores.exports.fail(export, message)
        journal.job_given_up("export", export.export_id)


def _refuse_gap(_: str) -> None:
    # The dataset was corrected meanwhile: the next attempt reads it again.
    raise StorageUnavailable
