"""Uploads: a file in the call, a URL, or a file that was put into the bucket before.

Files too large for the gateway go straight into the bucket. The caller gets a presigned form, sends
the file with it, and then gives the `path` to a dataset upload (`path`) or a prediction
(`sampleLocation`). The same account can use the file once, within an hour. Contract section 5,
uploads.
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

# Prefix of a `path` that names such a file.
SCHEME = "presage:upload/"
ISSUED, RECEIVED, USED = "ISSUED", "RECEIVED", "USED"
_KEY = re.compile("incoming/([0-9A-Za-z]{1,40})/([A-Z2-7]{26})")
_PATH = re.compile(re.escape(SCHEME) + "([A-Z2-7]{26})")


@dataclass(frozen=True)
class QueuedUpload:
    """A running upload, with the values that decide its place in the queue."""

    account_id: str
    family: str
    dataset_id: int
    upload_id: str
    lane: str
    """Queue lane of the upload; empty if a version without lanes accepted the upload."""
    turn: int
    lease_until: int
    """End of its worker's lease, in milliseconds since 1970."""


@dataclass(frozen=True)
class UploadedFile:
    """A presigned form and the file that was received with it."""

    account_id: str
    upload_id: str
    name: str
    """File name that the caller gave; may be empty."""
    expires_at: int
    """When form and file expire, in milliseconds since 1970."""
    status: str = ISSUED
    """ISSUED, RECEIVED or USED."""
    etag: str = ""
    """Version (ETag) of the first file received through the form; empty until one arrives."""

    @property
    def path(self) -> str:
        """Return what the caller sends as `path` or `sampleLocation`."""
        return SCHEME + self.upload_id

    @property
    def key(self) -> str:
        """Return the key of the file in the bucket."""
        return uploaded_key(self.account_id, self.upload_id)


def uploaded_key(account_id: str, upload_id: str) -> str:
    """Return the bucket key of an upload's file."""
    return f"incoming/{account_id}/{upload_id}"


def is_upload_path(path: str) -> bool:
    """Return whether a path names an upload instead of a URL."""
    return path.startswith(SCHEME)


def upload_id_of(path: str) -> str | None:
    """Return the upload id in a path; None when there is none."""
    found = _PATH.fullmatch(path)
    return None if found is None else found[1]


def owner_and_id(key: str) -> tuple[str, str] | None:
    """Return account id and upload id of a bucket key; None for any other key."""
    found = _KEY.fullmatch(key)
    return None if found is None else (found[1], found[2])


def claimed_file(account_id: str, path: str, etag: str) -> UploadedFile | None:
    """Return the uploaded file that a call has reserved for its use.

    Args:
        account_id: owner of the file.
        path: as the caller sent it.
        etag: version of the file that was claimed.

    Returns:
        The file; None when the path does not name an upload.
    """
    upload_id = upload_id_of(path)
    return None if upload_id is None else UploadedFile(account_id, upload_id, "", 0, USED, etag)


@dataclass(frozen=True)
class UploadSource:
    """The source of an upload: exactly one of content and path is set."""

    content: bytes | None = None
    """Bytes of a file that was sent in the call."""
    file_name: str = ""
    path: str | None = None
    """URL of the file, or path of an upload."""
    uploaded: UploadedFile | None = None
    """The upload that the path names, once it was found."""

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
    """True for a PUT: the dataset keeps its earlier data if this upload fails."""
    raw: str = ""
    """Bucket key of the raw file; empty until a `path` was fetched."""
    path: str = ""
    """URL or upload to fetch the file from; empty when it was sent in the call."""
    etag: str = ""
    """Version of the upload's file that was accepted; empty for a URL."""
    size_bytes: int = 0
    """Size of the raw file; 0 until it is known."""
    first_label: int = 0
    """First label id reserved for this upload; 0 before the reservation."""
    labels: int = 0
    first_example: int = 0
    """First example id reserved for this upload; 0 before the reservation."""
    source: str = UPLOAD
    """Source of its examples: `upload` or `feedback`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Members of ReadingOptions that the caller set."""

    @property
    def reading_options(self) -> ReadingOptions:
        """Return the options as a value."""
        return ReadingOptions(**self.options)

    def to_json(self) -> dict[str, object]:
        """Return the JSON form that the row stores."""
        return asdict(self)

    @property
    def label_ids(self) -> range:
        """Return the reserved label ids. A deletion removes these too, committed or not."""
        return range(self.first_label, self.first_label + self.labels)


def out_of_attempts(attempts: int, cause: str) -> str:
    """Return the message of an upload that used all its attempts."""
    why = f" ({cause})" if cause else ""
    return f"The file could not be read in {attempts} attempts{why}. Upload it again."
