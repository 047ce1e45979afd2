"""Files too large for the gateway, uploaded straight into the bucket. Contract section 5, uploads.

A caller gets a presigned form, sends the file with it, and then gives the `path` where a dataset
upload takes `path` or a prediction `sampleLocation`: once, within the hour, by the same account.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SCHEME = "presage:upload/"
"""How a `path` begins that names such a file."""
ISSUED, RECEIVED, USED = "ISSUED", "RECEIVED", "USED"
_KEY = re.compile("incoming/([0-9A-Za-z]{1,40})/([A-Z2-7]{26})")
_PATH = re.compile(re.escape(SCHEME) + "([A-Z2-7]{26})")


@dataclass(frozen=True)
class Incoming:
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
        return incoming_key(self.account_id, self.upload_id)


def incoming_key(account_id: str, upload_id: str) -> str:
    """Place of an upload's file in the bucket."""
    return f"incoming/{account_id}/{upload_id}"


def is_upload_path(path: str) -> bool:
    """Tell whether a path names an upload instead of a URL."""
    return path.startswith(SCHEME)


def upload_id_of(path: str) -> str | None:
    """Return the id in a path; None when there is none."""
    found = _PATH.fullmatch(path)
    return None if found is None else found[1]


def owner_and_id(key: str) -> tuple[str, str] | None:
    """Return account id and upload id of a place in the bucket; None for any other place."""
    found = _KEY.fullmatch(key)
    return None if found is None else (found[1], found[2])


def taken_file(account_id: str, path: str, etag: str) -> Incoming | None:
    """Return the uploaded file that a use has taken.

    Args:
        account_id: its owner.
        path: as the caller gave it.
        etag: version of the file that was taken.

    Returns:
        The file; None when the path names none.
    """
    upload_id = upload_id_of(path)
    return None if upload_id is None else Incoming(account_id, upload_id, "", 0, USED, etag)
