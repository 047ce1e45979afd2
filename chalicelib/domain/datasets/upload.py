"""Uploads. An upload call contains a file, or names a URL or a file already in the bucket.

A file that is too large for the gateway is sent to the bucket directly. The caller requests a
presigned form, sends the file with this form, and then passes the form's `path` to an upload call
(as `path`) or to a prediction (as `sampleLocation`). The file can be used once, within an hour, and
only by the account that requested the form. See contract section 5, uploads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from chalicelib.domain.common.limits import MAX_DERIVED_NAME_CHARACTERS
from chalicelib.domain.datasets.dataset import UPLOAD
from chalicelib.domain.datasets.label_descriptions import LabelDescription
from chalicelib.domain.datasets.upload_format import RECOGNISED, ReadingOptions

# Prefix of a `path` that names a file sent with a presigned form.
SCHEME = "presage:upload/"
ISSUED, RECEIVED, USED = "ISSUED", "RECEIVED", "USED"
_KEY = re.compile("incoming/([0-9A-Za-z]{1,40})/([A-Z2-7]{26})")
_PATH = re.compile(re.escape(SCHEME) + "([A-Z2-7]{26})")


@dataclass(frozen=True)
class QueuedUpload:
    """An unfinished upload, with the values that decide its position in the queue."""

    account_id: str
    family: str
    dataset_id: int
    upload_id: str
    lane: str
    """Name of the queue in which the upload waits; empty if an older version of the service,
    without such queues, accepted the upload.
    """
    turn: int
    lease_until: int
    """When the worker's lease on the upload ends, in milliseconds since 1970."""


@dataclass(frozen=True)
class UploadedFile:
    """A presigned form, and the file that was sent with it."""

    account_id: str
    upload_id: str
    name: str
    """File name that the caller gave; may be empty."""
    expires_at: int
    """When the form and the file expire, in milliseconds since 1970."""
    status: str = ISSUED
    """ISSUED, RECEIVED or USED."""
    etag: str = ""
    """ETag of the first file received through the form; empty until a file arrives."""

    @property
    def path(self) -> str:
        """Return the value that the caller sends as `path` or `sampleLocation`."""
        return SCHEME + self.upload_id

    @property
    def key(self) -> str:
        """Return the key of the file in the bucket."""
        return uploaded_key(self.account_id, self.upload_id)


def uploaded_key(account_id: str, upload_id: str) -> str:
    """Return the bucket key of a file that is sent with a presigned form."""
    return f"incoming/{account_id}/{upload_id}"


def is_upload_path(path: str) -> bool:
    """Return whether a `path` refers to a file in the bucket. Otherwise, it is a URL."""
    return path.startswith(SCHEME)


def upload_id_of(path: str) -> str | None:
    """Return the id of the presigned form that `path` refers to; None if it refers to no form."""
    found = _PATH.fullmatch(path)
    return None if found is None else found[1]


def owner_and_id(key: str) -> tuple[str, str] | None:
    """Return account id and upload id in the key of an uploaded file; None for other keys."""
    found = _KEY.fullmatch(key)
    return None if found is None else (found[1], found[2])


def claimed_file(account_id: str, source: Mapping[str, object]) -> UploadedFile | None:
    """Return the uploaded file that a job has claimed. No other call can use this file.

    `source` has the `path` in the job. If `path` refers to a presigned form, `source` also has the
    `etag` of the file that was sent with the form.

    Returns:
        The file; None if the path does not refer to a presigned form.
    """
    upload_id, etag = upload_id_of(str(source.get("path", ""))), str(source.get("etag", ""))
    return None if upload_id is None else UploadedFile(account_id, upload_id, "", 0, USED, etag)


@dataclass(frozen=True)
class UploadSource:
    """The source of an upload. Exactly one of `content` and `path` is set."""

    content: bytes | None = None
    """Bytes of a file that was sent in the call."""
    file_name: str = ""
    path: str | None = None
    """URL of the file, or `path` of a file that was sent with a presigned form."""
    uploaded: UploadedFile | None = None
    """The file in the bucket that `path` refers to; None until it is looked up."""

    uploaded_bytes: int = 0
    options: ReadingOptions = RECOGNISED

    @property
    def size_bytes(self) -> int:
        """Return the size of the file in bytes; 0 while the size is unknown."""
        return self.uploaded_bytes or len(self.content or b"")

    @property
    def derived_name(self) -> str:
        """Return a dataset name from the file name: no extension, at most 100 characters."""
        given = self.uploaded.name if self.uploaded else self.file_name
        name = given or _last_part(self.path or "")
        stem = "".join(c if c.isprintable() else " " for c in PurePosixPath(name).stem)
        return stem[:MAX_DERIVED_NAME_CHARACTERS].strip() or "dataset"


def _last_part(url: str) -> str:
    try:
        return unquote(PurePosixPath(urlsplit(url).path).name)
    except ValueError:
        # A malformed URL is reported by the download, with a better message.
        return ""


@dataclass(frozen=True)
class UploadFields:
    """Optional fields of an upload call."""

    name: str | None = None
    """Dataset name; the default is the file name without extension."""
    type: str | None = None
    language: str | None = None
    descriptions: tuple[LabelDescription, ...] = ()
    """Checked descriptions of labels."""


@dataclass(frozen=True)
class Upload:
    """The job of reading one file into a dataset, as the dataset's row stores it."""

    adds: bool = False
    """Whether the file is added to an existing dataset (PUT). The dataset then stays available if
    the upload fails.
    """
    raw: str = ""
    """Bucket key of the file as received; empty until a file given by `path` is downloaded."""
    path: str = ""
    """URL, or `path` of a file sent with a presigned form; empty if the call sent the file."""
    etag: str = ""
    """ETag of the file if it was sent with a presigned form, otherwise empty."""
    size_bytes: int = 0
    """Size of the file in bytes; 0 until it is known."""
    first_label: int = 0
    """First label id reserved for this upload; 0 before the reservation."""
    labels: int = 0
    first_example: int = 0
    """First example id reserved for this upload; 0 before the reservation."""
    source: str = UPLOAD
    """Source of the new examples: `upload` or `feedback`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The reading options that the caller set, by name."""

    @property
    def reading_options(self) -> ReadingOptions:
        """Return the reading options of the upload."""
        return ReadingOptions(**self.options)

    def to_json(self) -> dict[str, object]:
        """Return the JSON object that the dataset's row stores."""
        return asdict(self)

    @property
    def label_ids(self) -> range:
        """Return the range of label ids reserved for this upload.

        A deletion of the dataset removes all of these labels, committed or not.
        """
        return range(self.first_label, self.first_label + self.labels)


def out_of_attempts(attempts: int, cause: str) -> str:
    """Return the error message of an upload that has used all of its attempts."""
    why = f" ({cause})" if cause else ""
    return f"The file could not be read in {attempts} attempts{why}. Upload it again."


@dataclass(frozen=True)
class OpenUpload:
    """The entry of one unfinished upload in its account's row."""

    family: str
    dataset_id: int
    receipt_id: str
    """Id of the upload's receipt, unique among uploads."""
    reserved_at: int
    """Time at which the upload was accepted, in milliseconds since 1970."""
    size_bytes: int
    """Bytes counted for the account: first the file's size, later the size of the stored data."""

    def __str__(self) -> str:
        parts = (self.family, self.dataset_id, self.receipt_id, self.reserved_at, self.size_bytes)
        return ".".join(map(str, parts))

    @classmethod
    def parse(cls, text: str) -> OpenUpload:
        """Parse the text that `str` returned for an open upload."""
        family, dataset_id, receipt_id, reserved_at, size_bytes = text.split(".")
        return cls(family, int(dataset_id), receipt_id, int(reserved_at), int(size_bytes))
