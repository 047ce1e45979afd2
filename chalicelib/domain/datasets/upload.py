"""What a caller uploads: a file in the call, an address, or a file put into the bucket before.

Files too large for the gateway go straight into the bucket: a caller gets a presigned form, sends
the file with it, and then gives the `path` where a dataset upload takes `path` or a prediction
`sampleLocation`: once, within the hour, by the same account. Contract section 5, uploads.
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
from chalicelib.domain.datasets.upload_format import RECOGNISED, ReadingOptions

# How a `path` begins that names such a file.
SCHEME = "presage:upload/"
ISSUED, RECEIVED, USED = "ISSUED", "RECEIVED", "USED"
_KEY = re.compile("incoming/([0-9A-Za-z]{1,40})/([A-Z2-7]{26})")
_PATH = re.compile(re.escape(SCHEME) + "([A-Z2-7]{26})")


@dataclass(frozen=True)
class QueuedUpload:
    """An upload that is going on, as the order of turns shows it."""

    account_id: str
    """Owner."""
    family: str
    """Family of its dataset."""
    dataset_id: int
    """Dataset that it is read into."""
    upload_id: str
    """Receipt of the upload."""
    lane: str
    """Where it waits; empty of one that a version without turns has accepted."""
    turn: int
    """Its number in its lane."""
    lease_until: int
    """Until when a worker owns it, in milliseconds since 1970."""


@dataclass(frozen=True)
class UploadedFile:
    """One presigned form and what came by it."""

    account_id: str
    """Owner."""
    upload_id: str
    """String id."""
    name: str
    """Name of the file, as the caller gives it; may be empty."""
    expires_at: int
    """When form and file die, in milliseconds since 1970."""
    status: str = ISSUED
    """ISSUED, RECEIVED or USED."""
    etag: str = ""
    """Version of the file that was received first; empty while none is known."""

    @property
    def path(self) -> str:
        """What the caller gives as `path` or `sampleLocation`."""
        return SCHEME + self.upload_id

    @property
    def key(self) -> str:
        """Place of the file in the bucket."""
        return uploaded_key(self.account_id, self.upload_id)


def uploaded_key(account_id: str, upload_id: str) -> str:
    """Place of an upload's file in the bucket."""
    return f"incoming/{account_id}/{upload_id}"


def is_upload_path(path: str) -> bool:
    """Return whether a path names an upload instead of a URL."""
    return path.startswith(SCHEME)


def upload_id_of(path: str) -> str | None:
    """Return the id in a path; None when there is none."""
    found = _PATH.fullmatch(path)
    return None if found is None else found[1]


def owner_and_id(key: str) -> tuple[str, str] | None:
    """Return account id and upload id of a place in the bucket; None for any other place."""
    found = _KEY.fullmatch(key)
    return None if found is None else (found[1], found[2])


def claimed_file(account_id: str, path: str, etag: str) -> UploadedFile | None:
    """Return the uploaded file that a use has taken.

    Args:
        account_id: its owner.
        path: as the caller gave it.
        etag: version of the file that was taken.

    Returns:
        The file; None when the path names none.
    """
    upload_id = upload_id_of(path)
    return None if upload_id is None else UploadedFile(account_id, upload_id, "", 0, USED, etag)


@dataclass(frozen=True)
class UploadSource:
    """Exactly one of content and path is set."""

    content: bytes | None = None
    """Bytes of the file, when it was sent in the call."""
    file_name: str = ""
    """Base name of the sent file."""
    path: str | None = None
    """URL of the file, or path of an upload."""
    uploaded: UploadedFile | None = None
    """The upload that the path names, once it was found."""

    uploaded_bytes: int = 0
    """Size of that upload's file."""
    options: ReadingOptions = RECOGNISED
    """What the caller says about the file."""

    @property
    def size_bytes(self) -> int:
        """Bytes of the file, 0 while they are not known."""
        return self.uploaded_bytes or len(self.content or b"")

    @property
    def derived_name(self) -> str:
        """Dataset name taken from the file's name: without extension, cut to 100."""
        given = self.uploaded.name if self.uploaded else self.file_name
        name = given or _last_part(self.path or "")
        stem = "".join(c if c.isprintable() else " " for c in PurePosixPath(name).stem)
        return stem[:MAX_DERIVED_NAME_CHARACTERS].strip() or "dataset"


def _last_part(url: str) -> str:
    """Return the last part of a URL's path; empty for what is none, which the download refuses."""
    try:
        return unquote(PurePosixPath(urlsplit(url).path).name)
    except ValueError:
        return ""


@dataclass(frozen=True)
class UploadFields:
    """Optional fields of an upload call."""

    name: str | None = None
    """Dataset name; default: the file name without extension."""
    type: str | None = None
    """Dataset type."""
    language: str | None = None
    """Dataset language."""


@dataclass(frozen=True)
class Upload:
    """The job of reading one file into a dataset, as the dataset's row remembers it."""

    adds: bool = False
    """True for a PUT: the dataset had data before and keeps it when this fails."""
    raw: str = ""
    """Where the raw file lies in the bucket; empty until a `path` was fetched."""
    path: str = ""
    """URL or upload to fetch the file from; empty when it was sent in the call."""
    etag: str = ""
    """Version of the upload's file that was accepted; empty for a URL."""
    size_bytes: int = 0
    """Size of the raw file, 0 while unknown."""
    first_label: int = 0
    """First of the label ids reserved for this upload; 0 before they are."""
    labels: int = 0
    """How many label ids are reserved."""
    first_example: int = 0
    """First of the example ids reserved for this upload; 0 before they are."""
    source: str = UPLOAD
    """What its examples become: `upload` or `feedback`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the caller says about the file; members of ReadingOptions."""

    @property
    def reading_options(self) -> ReadingOptions:
        """What the caller says about the file."""
        return ReadingOptions(**self.options)

    def to_json(self) -> dict[str, object]:
        """Return the JSON form that the row stores."""
        return asdict(self)

    @property
    def label_ids(self) -> range:
        """The reserved label ids; deletion removes them whether committed or not."""
        return range(self.first_label, self.first_label + self.labels)


def out_of_attempts(attempts: int, cause: str) -> str:
    """Say why an upload is out of attempts."""
    why = f" ({cause})" if cause else ""
    return f"The file could not be read in {attempts} attempts{why}. Upload it again."
