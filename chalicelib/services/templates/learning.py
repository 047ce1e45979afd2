"""Learns form templates from examples: creates jobs, runs them, and returns their results.

A job may run several times. Every run reads the same input, and publishes its result by one
conditional write.
"""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from chalicelib import journal, log
from chalicelib.config import Settings
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.common.clock import Clock, date_text
from chalicelib.domain.common.ids import STRING_ID
from chalicelib.domain.common.limits import MAX_OCR_BYTES
from chalicelib.domain.common.repeats import object_id
from chalicelib.domain.datasets.dataset import VISION
from chalicelib.domain.datasets.upload import (
    UploadedFile,
    UploadSource,
    claimed_file,
    is_upload_path,
)
from chalicelib.domain.documents.form_template import LearnedTemplate, as_sent
from chalicelib.domain.jobs.messages import LearnJob
from chalicelib.domain.jobs.template_learning import (
    LEARNING_KEPT,
    MAX_KEPT_LEARNINGS,
    MAX_LEARNED_DOCUMENTS,
    MAX_LEARNED_PAGES,
    MAX_OPEN_LEARNINGS,
    LearningNotFound,
    TemplateLearning,
)
from chalicelib.domain.models.model import OCR, PREBUILT
from chalicelib.errors import (
    BadRequest,
    InvalidUpload,
    LeaseLost,
    ServiceError,
    StorageUnavailable,
    TimedOut,
    TooLarge,
    TooManyOpen,
    UnsupportedType,
)
from chalicelib.formats.templates.learning_set import LearningDocument, read_learning_set
from chalicelib.formats.upload_files import check_content
from chalicelib.stores.jobs.heartbeats import Heartbeat
from chalicelib.stores.jobs.queues import EMBED, retried_by_sweep

if TYPE_CHECKING:
    from chalicelib.domain.models.model import ServedModel
    from chalicelib.engines.ocr.learning.examples import LearningExample, PackedPage
    from chalicelib.formats.templates.learning_set import LearningSet
    from chalicelib.stores.accounts.in_flight import InFlight
    from chalicelib.stores.fetching.downloads import Downloader
    from chalicelib.stores.fetching.uploaded_files import UploadedFileStore
    from chalicelib.stores.jobs.queues import Queues
    from chalicelib.stores.jobs.template_learnings import LearningStore
    from chalicelib.stores.models.served import ServedModels

# The prebuilt model that reads the documents.
READER = next(name for name, kind in PREBUILT.items() if kind == OCR)
# Limit of an archive that a call gives by `path`: the documents, and their values.
MAX_LEARNING_BYTES = (MAX_LEARNED_DOCUMENTS + 1) * MAX_OCR_BYTES
# Time limits of one document and of a download, in seconds.
_DOCUMENT_SECONDS, _DOWNLOAD_SECONDS = 90.0, 300.0
# Remaining time of a function at which the work stops, so that the outcome can still be stored.
_RESERVE_SECONDS = 60.0
# Errors of the input: another attempt would fail in the same way.
_REFUSALS = (BadRequest, TimedOut, TooLarge, UnsupportedType)


@dataclass(frozen=True, kw_only=True)
class TemplateServiceStores:
    """Stores used by `TemplateService`."""

    downloads: Downloader
    in_flight: InFlight
    learnings: LearningStore
    queues: Queues
    served_models: ServedModels
    uploaded_files: UploadedFileStore


class PageReader(Protocol):
    """The methods of the document service that template learning uses."""

    def require_networks(self, model: ServedModel) -> None:
        """Raise an error if the networks of an OCR model are missing."""

    def packed_pages(
        self, model: ServedModel, content: bytes, seconds_left: Callable[[], float]
    ) -> list[PackedPage]:
        """Read the pages of a form from which a template is learned."""


class TemplateService:
    """Learns form templates from archives, which contain documents and their correct values."""

    def __init__(
        self, stores: TemplateServiceStores, ocr: PageReader, clock: Clock, settings: Settings
    ) -> None:
        self._stores = stores
        self._learnings = stores.learnings
        self._ocr = ocr
        self._clock = clock
        self._settings = settings

    def create(self, account: Account, source: UploadSource) -> TemplateLearning:
        """Create a job. If the call contains the archive, check the archive first.

        Raises:
            BadRequest: the archive or its values cannot be used.
            TooLarge: the file is over its limit.
            UnsupportedType: the file is not an archive.
            PrebuiltNotInstalled: the networks that read documents are missing.
            TooManyOpen: the account has the maximum number of jobs.
        """
        self._ocr.require_networks(self._stores.served_models.find(account.account_id, READER))
        self._check_open_limit(account)
        place = self._place(account, source)
        now = self._clock()
        learning = TemplateLearning(
            object_id(), account.account_id, place, now, now, now + LEARNING_KEPT
        )
        uploaded = claimed_file(learning.account_id, learning.source)
        if uploaded is not None:
            # If another attempt at the call has claimed it, that attempt's job must stay.
            self._stores.uploaded_files.claim(uploaded, learning.learning_id)
        try:
            if source.content is not None:
                self._learnings.put_input(learning, source.content)
            self._learnings.create(learning)
        except ServiceError:
            self._revert(learning, uploaded)
            raise
        with retried_by_sweep("learn", template=learning.learning_id):
            self._stores.queues.send(EMBED, LearnJob.of(learning))
        return learning

    def _revert(self, learning: TemplateLearning, uploaded: UploadedFile | None) -> None:
        """Delete what a failed request stored, unless another attempt created the job."""
        with suppress(StorageUnavailable):
            found = self._learnings.find(learning.account_id, learning.learning_id)
            if found and date_text(found.created_at) != date_text(learning.created_at):
                return  # Another attempt at the call has created it.
            self._learnings.delete(learning)
            if uploaded is not None:
                self._stores.uploaded_files.release(uploaded, learning.learning_id)

    def get(
        self, account: Account, learning_id: str
    ) -> tuple[TemplateLearning, dict[str, Any] | None]:
        """Return a job, and its result if there is one.

        Raises:
            LearningNotFound: the account has no such job, or it has expired.
        """
        is_id = STRING_ID.fullmatch(learning_id) is not None
        found = self._learnings.find(account.account_id, learning_id) if is_id else None
        if found is None:
            raise LearningNotFound(learning_id[:100])
        return found, self._learnings.result(found)

    def run(self, job: LearnJob, remaining_seconds: Callable[[], float]) -> None:
        """Learn one template, unless the job has ended or another worker owns it."""
        learning = self._learnings.acquire(job.account_id, job.learning_id)
        if learning is None:
            return
        try:
            self._attempt(learning, remaining_seconds)
        except LeaseLost:
            log.warning("learning_lease_lost", template=learning.learning_id)

    def _attempt(self, learning: TemplateLearning, remaining_seconds: Callable[[], float]) -> None:
        """Learn the template, and store in the job's row whether this attempt succeeded."""
        if learning.attempts > self._settings.max_attempts:
            self._give_up(learning, learning.last_error)
            return
        try:
            self._learn(learning, remaining_seconds)
            self._delete_upload(learning)
        except LeaseLost:
            raise
        except _REFUSALS as refusal:
            self._learnings.fail(learning, str(refusal))
            self._delete_upload(learning)
        except Exception as error:
            log.error("learning_interrupted", error, template=learning.learning_id)
            cause = "the storage did not answer" if isinstance(error, StorageUnavailable) else ""
            if learning.attempts >= self._settings.max_attempts:
                self._give_up(learning, cause)
            else:
                self._learnings.release(learning, cause)
            raise

    def _learn(self, learning: TemplateLearning, remaining_seconds: Callable[[], float]) -> None:
        """Learn a template while a heartbeat renews the job's lease, then publish the template."""
        renew = Heartbeat(lambda: self._learnings.renew(learning), self._settings.lease_seconds)

        def check() -> None:
            renew.check()
            if remaining_seconds() < _RESERVE_SECONDS:
                raise TimedOut(
                    "The template was not learned in the time of one run. Send fewer or smaller "
                    "documents."
                )

        with renew, tempfile.TemporaryFile() as file:
            self._read_input(learning, file, check)
            examples = self._examples(learning, read_learning_set(file), check, remaining_seconds)
            found = _learned(examples, check)
            renew.check()
        if found is None:
            raise InvalidUpload(
                "None of the values was found near a caption. Compare values.json with the texts "
                "of the documents."
            )
        self._learnings.finish(learning, _result(found))
        journal.template_learned(learning.learning_id, len(examples), found.accuracy)

    def _read_input(
        self, learning: TemplateLearning, file: BinaryIO, check: Callable[[], None]
    ) -> None:
        if not learning.source:
            if not self._learnings.read_input(learning, file):
                raise StorageUnavailable
        elif uploaded := claimed_file(learning.account_id, learning.source):
            self._stores.uploaded_files.read(uploaded, file, check=check)
        else:
            url = learning.source["path"]
            self._stores.downloads.fetch(
                url, file, MAX_LEARNING_BYTES, _DOWNLOAD_SECONDS, "the archive", check
            )

    def _examples(
        self,
        learning: TemplateLearning,
        documents: LearningSet,
        check: Callable[[], None],
        remaining_seconds: Callable[[], float],
    ) -> list[LearningExample]:
        """Read the documents one after the other, and find the given values in each document."""
        from chalicelib.engines.ocr.learning.examples import prepare_example

        model = self._stores.served_models.find(learning.account_id, READER)
        examples: list[LearningExample] = []
        page_count = 0
        for document in documents.documents:
            check()
            left = min(_DOCUMENT_SECONDS, remaining_seconds() - _RESERVE_SECONDS)
            try:
                content = documents.content(document)
                pages = self._ocr.packed_pages(model, content, _countdown(left))
            except _REFUSALS as refusal:
                raise _named(document, refusal) from refusal
            page_count += len(pages)
            if page_count > MAX_LEARNED_PAGES:
                raise InvalidUpload(
                    f"The documents have more than {MAX_LEARNED_PAGES} pages together, the most "
                    "of a template. Send fewer documents, or only the pages that have values."
                )
            examples.append(prepare_example(pages, document.values, check))
        return examples

    def _place(self, account: Account, source: UploadSource) -> dict[str, str]:
        """Check the input; return where it is stored, in the form of `TemplateLearning.source`."""
        if source.path is None:
            content = source.content or b""
            check_content(VISION, content)
            read_learning_set(io.BytesIO(content))
            return {}
        if is_upload_path(source.path):
            found, size = self._stores.uploaded_files.find(account.account_id, source.path)
            if size > MAX_LEARNING_BYTES:
                raise TooLarge(
                    f"The file has {size} bytes; at most {MAX_LEARNING_BYTES} "
                    f"({MAX_LEARNING_BYTES // 1024**2} MB) are allowed. Send fewer documents."
                )
            return {"path": found.path, "etag": found.etag}
        with self._stores.in_flight.downloading(account.account_id):
            self._stores.downloads.check(source.path, MAX_LEARNING_BYTES, "the archive")
        return {"path": source.path}

    def _check_open_limit(self, account: Account) -> None:
        stored = self._learnings.of_account(account.account_id)
        unfinished = sum(not each.is_over for each in stored)
        if unfinished >= MAX_OPEN_LEARNINGS or len(stored) >= MAX_KEPT_LEARNINGS:
            raise TooManyOpen(
                f"The account has {unfinished} templates that are being learned and {len(stored)} "
                f"of the last 24 hours; at most {MAX_OPEN_LEARNINGS} and {MAX_KEPT_LEARNINGS} are "
                "allowed. Wait for one.",
                30,
            )

    def _delete_upload(self, learning: TemplateLearning) -> None:
        """Delete a file sent with a presigned form. If this fails, a bucket rule deletes it."""
        uploaded = claimed_file(learning.account_id, learning.source)
        if uploaded is not None:
            with suppress(StorageUnavailable):
                self._stores.uploaded_files.delete(uploaded)

    def _give_up(self, learning: TemplateLearning, cause: str) -> None:
        tries = self._settings.max_attempts
        known = f" The last time, {cause}." if cause else ""
        message = f"The learning was interrupted {tries} times.{known} Send it again later."
        self._learnings.fail(learning, message)
        journal.job_given_up("template", learning.learning_id)


def _learned(examples: list[LearningExample], check: Callable[[], None]) -> LearnedTemplate | None:
    from chalicelib.engines.ocr.learning.learner import TemplateLearner

    return TemplateLearner(examples, check).learn()


def _result(learned: LearnedTemplate) -> dict[str, Any]:
    """Convert a learned template to the JSON object that is stored and that the API returns."""
    fields = [{"entity": row.entity, "right": row.right, "of": row.of} for row in learned.scores]
    return {
        "template": as_sent(learned.template),
        "accuracy": None if learned.accuracy is None else round(learned.accuracy, 6),
        "perField": fields,
        "notFound": list(learned.not_found),
    }


def _named(document: LearningDocument, refusal: ServiceError) -> InvalidUpload:
    return InvalidUpload(f"{document.name[:100]}: {refusal}")


def _countdown(seconds: float) -> Callable[[], float]:
    until = time.monotonic() + seconds
    return lambda: until - time.monotonic()
