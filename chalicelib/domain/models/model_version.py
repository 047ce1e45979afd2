"""Versions of a model: each successful training adds one, and any stored version can be served.

One attribute of the model's row stores the list of versions. A call writes its change only if
no other call has changed the list in between. So a deleted version is never served.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.domain.common.clock import from_milliseconds, to_milliseconds
from chalicelib.errors import NotFound, TooLarge

LARGEST_VERSION = 2**31


@dataclass(frozen=True)
class ModelVersion:
    """A stored version of a model."""

    number: int
    """Number of the version, from 1; not used again after the version is deleted."""
    folder: str
    """Name of the folder with the artifacts of the version."""
    created_at: datetime
    examples: int
    """Number of training examples; 0 if unknown."""
    algorithm: str | None = None
    not_served_because: str = ""
    """Why the version was not served after its training; empty if it was served."""
    served_because: str = ""
    """Why the version was served although the requested comparison was not possible; else empty."""
    is_adjusted: bool = False
    """Whether the version was adjusted to texts of users instead of trained."""
    bytes: int | None = None
    """Size of the artifact in bytes; None for an older version that was never measured."""

    @property
    def run(self) -> int:
        """Return the number of the run that created the version, taken from its folder name."""
        return int(self.folder.partition("-")[0].lstrip("r"))


@dataclass(frozen=True)
class KeptVersions:
    """The stored versions of a model, oldest first."""

    items: Sequence[ModelVersion] = ()
    last: int = 0
    """Highest number of any version of the model, deleted versions included."""

    def find(self, number: int) -> ModelVersion | None:
        """Return the version with a number, or None."""
        return next((one for one in self.items if one.number == number), None)

    @property
    def bytes(self) -> int:
        """Return the total size of all artifacts with a known size, in bytes."""
        return sum(one.bytes or 0 for one in self.items)

    @property
    def newest_bytes(self) -> int:
        """Return the size of the newest artifact in bytes; 0 if there is no artifact."""
        return (self.items[-1].bytes or 0) if self.items else 0

    def with_new(self, version: ModelVersion, in_use: Collection[str], limit: int) -> KeptVersions:
        """Add a version, and remove the oldest versions if there are more than `limit`.

        Args:
            version: the new version, which gets its number here.
            in_use: folders of versions that must not be removed.
            limit: maximum number of versions. It is exceeded if more versions are in use.
        """
        number = self.last + 1
        added = ModelVersion(**{**version.__dict__, "number": number})
        kept = [*self.items, added]
        spare = [one for one in kept if one.folder not in in_use and one is not added]
        gone = spare[: max(0, len(kept) - limit)]
        return KeptVersions(tuple(one for one in kept if one not in gone), number)

    def with_again(self, version: ModelVersion) -> KeptVersions:
        """Add a removed version again, at its former position."""
        kept = sorted((*self.items, version), key=lambda one: one.number)
        return KeptVersions(tuple(kept), self.last)

    def without(self, number: int) -> KeptVersions:
        """Return all versions except the one with this number."""
        return KeptVersions(tuple(one for one in self.items if one.number != number), self.last)


@dataclass(frozen=True)
class SpareVersion:
    """A version that could be deleted to free storage."""

    model_id: str
    number: int
    size_bytes: int


def check_version_capacity(stored: int, more: int, limit: int, oldest: SpareVersion | None) -> None:
    """Raise TooLarge if the account has no storage left for the version of a new training.

    Args:
        stored: bytes that the account stores.
        more: estimated size of the version in bytes.
        limit: maximum number of bytes of the account.
        oldest: oldest version that can be deleted, for the error text; None if there is none.
    """
    if stored + more <= limit:
        return
    remedy = (
        f"Delete version {oldest.number} of model {oldest.model_id} ({oldest.size_bytes} bytes), "
        "the oldest version that is not served."
        if oldest
        else "No version can be deleted, because each is served. Delete models or datasets that "
        "are not needed."
    )
    raise TooLarge(
        f"The account stores {stored} bytes and the new version adds about {more}; the limit is "
        f"{limit}. {remedy}"
    )


def dump_versions(versions: KeptVersions) -> dict[str, Any]:
    """Return the value that the model's row stores."""
    return {
        "last": versions.last,
        "kept": [
            {
                "number": one.number,
                "folder": one.folder,
                "createdAt": to_milliseconds(one.created_at),
                "examples": one.examples,
                "algorithm": one.algorithm,
                "notServed": one.not_served_because,
                "served": one.served_because,
                "isAdjusted": one.is_adjusted,
                "bytes": one.bytes,
            }
            for one in versions.items
        ],
    }


def load_versions(stored: Mapping[str, Any]) -> KeptVersions:
    """Return the versions in a value that `dump_versions` returned."""
    kept = (
        ModelVersion(
            number=one["number"],
            folder=one["folder"],
            created_at=from_milliseconds(one["createdAt"]),
            examples=one["examples"],
            algorithm=one["algorithm"],
            not_served_because=one["notServed"],
            # Rows of older versions lack these members.
            served_because=one.get("served", ""),
            is_adjusted=one.get("isAdjusted", False),
            bytes=one.get("bytes"),
        )
        for one in stored["kept"]
    )
    return KeptVersions(tuple(kept), stored["last"])


def first_version(folder: str, created_at: datetime, examples: int) -> KeptVersions:
    """Return the versions of a model whose row is so old that it has no list of versions.

    `folder` is the folder of the served version; empty before the first successful training.
    `examples` is 0 if unknown.
    """
    if not folder:
        return KeptVersions()
    return KeptVersions((ModelVersion(1, folder, created_at, examples),), 1)


def version_not_found(number: int, stored_numbers: Sequence[int]) -> NotFound:
    """Return the error for a version that is not stored."""
    numbers = ", ".join(map(str, stored_numbers)) or "none"
    return NotFound(f"Version {number} of the model is not kept. Kept versions: {numbers}.")
