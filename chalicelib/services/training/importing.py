"""Imports models that another installation or account exported. See beyond.md, section 13.

An import is queued and run like a training, but reads an archive instead of a dataset.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.common.clock import Clock, date_text
from chalicelib.domain.common.limits import MAX_PREDICTED_IMAGE_BYTES
from chalicelib.domain.common.repeats import object_id
from chalicelib.domain.datasets.dataset import Dataset
from chalicelib.domain.datasets.fields import checked_name
from chalicelib.domain.datasets.upload import (
    UploadSource,
    claimed_file,
    is_upload_path,
)
from chalicelib.domain.jobs.imported_model import (
    checked_description,
    imported_card,
    imported_metrics,
)
from chalicelib.domain.models.evaluation import Evaluation
from chalicelib.domain.models.learning import LearnedModel, RunControl
from chalicelib.domain.models.model import (
    QUEUED,
    UNKNOWN_TYPES,
    Model,
    ModelView,
    TrainRequest,
)
from chalicelib.engines.artifact import ArtifactError
from chalicelib.errors import (
    BadRequest,
    TooLarge,
    TrainingFailed,
    UnsupportedType,
)
from chalicelib.formats.archives.zip_archive import looks_like_zip
from chalicelib.formats.exports.bundle_reader import MAX_PACKED_BYTES, Bundle
from chalicelib.formats.exports.bundles import CARD_FILE, HEAD_FILE
from chalicelib.stores.models.run_files import ImportedFileStore, RunFiles, RunFileStore, StoreFiles

if TYPE_CHECKING:
    from chalicelib.domain.documents.picture import Picture
    from chalicelib.engines.imports.imported_model import ImportedHead
    from chalicelib.engines.text.encoding.pool import EncoderPool
    from chalicelib.engines.vision.backbone.pool import BackbonePool
    from chalicelib.stores.accounts.in_flight import InFlight
    from chalicelib.stores.fetching.downloads import Downloader
    from chalicelib.stores.fetching.uploaded_files import UploadedFileStore
    from chalicelib.stores.jobs.capacity import CapacityStore

# Queues the first run of a new model.
QueueNew = Callable[[Account, Model, Dataset | None, StoreFiles | None], ModelView]
# Errors of the archive: another attempt would fail in the same way.
_REFUSALS = (BadRequest, TooLarge, UnsupportedType, ArtifactError)
_DOWNLOAD_SECONDS = 300.0


@dataclass(frozen=True, kw_only=True)
class ImportStores:
    """Stores used by `ImportService`."""

    capacity: CapacityStore
    downloads: Downloader
    imported_files: ImportedFileStore
    in_flight: InFlight
    run_files: RunFileStore
    uploaded_files: UploadedFileStore


class ImportService:
    """Accepts imports of models, and runs them for the training queue."""

    def __init__(
        self,
        stores: ImportStores,
        queue_new: QueueNew,
        pools: tuple[EncoderPool, BackbonePool],
        clock: Clock,
    ) -> None:
        self._stores = stores
        self._queue_new = queue_new
        self._pools = pools
        self._clock = clock

    def request(self, account: Account, family: str, source: UploadSource, name: str) -> Model:
        """Queue the import of a model.

        The source is the archive of an export, or the URL of the archive.

        Raises:
            BadRequest: the name or the URL cannot be used.
            TooLarge: the file is over its limit, or the account has no storage for it.
            UnsupportedType: the file is not an archive.
            TooManyOpen: the account has too many open trainings.
        """
        now = self._clock()
        model = Model(
            account_id=account.account_id,
            model_id=object_id(),
            name=checked_name(name),
            dataset_id=0,
            family=family,
            # The archive has the type and language, and the worker reads it.
            type=UNKNOWN_TYPES[family],
            language="N/A",
            status=QUEUED,
            progress=0,
            created_at=now,
            updated_at=now,
            request=TrainRequest(imported=self._place(account, source)),
            queued_at=now,
            is_paid=account.is_paid,
            heeds_rate=True,
        )
        archives, content = self._stores.imported_files, source.content
        files = RunFiles(
            None if content is None else lambda: archives.put(model.model_id, content),
            lambda: archives.delete(model.model_id),
            claimed_file(model.account_id, model.request.imported or {}),
        )
        return self._stores.run_files.queue(
            model, files, lambda store: self._queue_new(account, model, None, store)
        ).model

    def learn(self, model: Model, control: RunControl) -> LearnedModel:
        """Read a model from an archive, and check its predictions for sample inputs.

        The archive has the sample inputs, and the predictions of the installation that exported the
        model.

        Raises:
            TrainingFailed: the archive cannot be imported; the message says why.
            LeaseLost: another worker owns the run.
        """
        started = time.monotonic()
        with tempfile.TemporaryFile() as file:
            try:
                self._fetch(model, file, control.check)
                # The call may not know the size, because a server need not announce it.
                self._stores.capacity.check_version(model.account_id, file.tell())
                bundle = Bundle(file, control.check)
                head = self._read(model, bundle, control)
                difference = self._compare(bundle, head, control)
                source = {"sha256": bundle.sha256, "largestDifference": difference}
                return self._learned(model, bundle, head, source, started)
            except _REFUSALS as refusal:
                raise TrainingFailed(str(refusal)) from refusal

    def discard(self, model: Model) -> None:
        """Delete the archive of an ended run."""
        if model.request.imported is None:
            return
        self._stores.imported_files.delete(model.model_id)
        if uploaded := claimed_file(model.account_id, model.request.imported):
            self._stores.uploaded_files.delete(uploaded)

    def _read(self, model: Model, bundle: Bundle, control: RunControl) -> ImportedHead:
        """Check the trained classifier (head) in an archive, and return the head."""
        from chalicelib.engines.imports.foreign_head import MAX_HEAD_BYTES
        from chalicelib.engines.imports.imported_model import load_imported

        checked_description(bundle.manifest, model.family)
        content = bundle.read(HEAD_FILE, MAX_HEAD_BYTES)
        control.report(0.2)
        return load_imported(content, bundle.manifest, self._pools, control.check)

    def _compare(self, bundle: Bundle, head: ImportedHead, control: RunControl) -> float:
        """Compare predictions for sample inputs with the predictions that the archive contains.

        Returns:
            The largest difference.

        A difference above a small tolerance raises an error.
        """
        from chalicelib.engines.imports.imported_model import compare_golden

        golden = [
            (sample if isinstance(sample, str) else _decoded(sample, head.least_side), answer)
            for sample, answer in bundle.read_golden_samples()
        ]
        control.report(0.4)
        return compare_golden(head, golden, control.check)

    def _learned(
        self,
        model: Model,
        bundle: Bundle,
        head: ImportedHead,
        source: dict[str, Any],
        started: float,
    ) -> LearnedModel:
        description = checked_description(bundle.manifest, model.family)
        labels = description.labels
        facts = {
            "modelId": model.model_id,
            "name": model.name,
            "createdAt": date_text(self._clock()),
            "engine": head.engine,
            "artifactSha256": hashlib.sha256(head.artifact).hexdigest(),
            "imported": source,
        }
        card = imported_card(bundle.document(CARD_FILE), description, facts)
        return LearnedModel(
            artifact=head.artifact,
            metrics=imported_metrics(card, labels),
            card=card,
            labels=len(labels),
            examples=card["trainedOn"]["examples"],
            training_seconds=round(time.monotonic() - started, 3),
            early_stopping=False,
            last_epoch=0,
            train_size=0,
            test_size=0,
            evaluation=Evaluation(),
            description=description,
        )

    def _fetch(self, model: Model, file: BinaryIO, check: Callable[[], None]) -> None:
        place = model.request.imported or {}
        if uploaded := claimed_file(model.account_id, place):
            self._stores.uploaded_files.read(uploaded, file, check=check)
        elif "path" in place:
            self._stores.downloads.fetch(
                str(place["path"]), file, MAX_PACKED_BYTES, _DOWNLOAD_SECONDS, "the archive", check
            )
        elif not self._stores.imported_files.read(model.model_id, file):
            raise TrainingFailed("The archive is gone. Import the model again.")

    def _place(self, account: Account, source: UploadSource) -> dict[str, object]:
        """Check size and type of an archive without reading it all; return where it is stored."""
        if source.path is None:
            content = source.content or b""
            _check_size(len(content))
            if not looks_like_zip(content[:4]):
                raise UnsupportedType(
                    "The file is not a zip archive. Send the file that an export of a model made."
                )
            return {"bytes": len(content)}
        if is_upload_path(source.path):
            found, size = self._stores.uploaded_files.find(account.account_id, source.path)
            _check_size(size)
            return {"path": found.path, "etag": found.etag, "bytes": size}
        with self._stores.in_flight.downloading(account.account_id):
            probe = self._stores.downloads.check(source.path, MAX_PACKED_BYTES, "the archive")
        return {"path": source.path, "bytes": probe.size_bytes}


def _decoded(content: bytes, least_side: int | None) -> Picture:
    """Return a sample image, decoded like an image in a prediction call."""
    from chalicelib.formats.pictures.png_exif import standardize_orientation
    from chalicelib.formats.pictures.reading import read_picture

    upright = standardize_orientation(content)
    return read_picture(upright, MAX_PREDICTED_IMAGE_BYTES, least_side)


def _check_size(size: int) -> None:
    if size > MAX_PACKED_BYTES:
        raise TooLarge(
            f"The file has {size} bytes; at most {MAX_PACKED_BYTES} "
            f"({MAX_PACKED_BYTES // 1024**2} MB) are allowed. No export of a model is that large."
        )
