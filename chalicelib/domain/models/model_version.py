"""Versions of a model: each successful training adds one, and any stored one can be served.

The list is one attribute of the model's row. A change is written only if the list has not changed
since it was read, so a served version is never deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.domain.common.clock import from_milliseconds, to_milliseconds
from chalicelib.errors import NotFound, TooLarge

# Versions that are kept besides those in use.
KEPT_VERSIONS = 10
LARGEST_VERSION = 2**31


@dataclass(frozen=True)
class ModelVersion:
    """A version of a model."""

    number: int
    """From 1; never used again after the version is deleted."""
    folder: str
    """Name of its folder of artifacts."""
    created_at: datetime
    examples: int
    """Examples of the training; 0 when not known."""
    algorithm: str | None = None
    not_served_because: str = ""
    """Why the training that made the version did not serve it."""
    is_adjusted: bool = False
    """Whether it was adjusted to texts of users, instead of trained."""
    bytes: int | None = None
    """Size of its artifact; None when an older service wrote it and nothing has measured it."""

    @property
    def run(self) -> int:
        """Return the number of the training run that made the version, from its folder's name."""
        return int(self.folder.partition("-")[0].lstrip("r"))


@dataclass(frozen=True)
class KeptVersions:
    """The kept versions of a model, oldest first."""

    kept: Sequence[ModelVersion] = ()
    last: int = 0
    """Number of the newest version that was ever made."""

    def find(self, number: int) -> ModelVersion | None:
        """Return the version with a number, or None."""
        return next((one for one in self.kept if one.number == number), None)

    @property
    def bytes(self) -> int:
        """Return the size of all artifacts whose size is known."""
        return sum(one.bytes or 0 for one in self.kept)

    @property
    def newest_bytes(self) -> int:
        """Return the bytes of the newest artifact, an estimate for the next one; 0 if none."""
        return (self.kept[-1].bytes or 0) if self.kept else 0

    def with_new(self, version: ModelVersion, in_use: Collection[str]) -> KeptVersions:
        """Add the next version, and remove the oldest ones above the limit.

        Args:
            version: the new version; its number is replaced by the next one.
            in_use: folders that must stay.
        """
        number = self.last + 1
        added = ModelVersion(**{**version.__dict__, "number": number})
        kept = [*self.kept, added]
        spare = [one for one in kept if one.folder not in in_use and one is not added]
        gone = spare[: max(0, len(kept) - KEPT_VERSIONS)]
        return KeptVersions(tuple(one for one in kept if one not in gone), number)

    def without(self, number: int) -> KeptVersions:
        """Remove a version."""
        return KeptVersions(tuple(one for one in self.kept if one.number != number), self.last)


@dataclass(frozen=True)
class SpareVersion:
    """A version that could be deleted to store less."""

    model_id: str
    number: int
    size_bytes: int


def check_version_capacity(stored: int, more: int, limit: int, oldest: SpareVersion | None) -> None:
    """Refuse a training whose version exceeds the account's storage, in bytes (TooLarge)."""
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
        f"The account stores {stored} bytes and this training adds about {more}; the limit is "
        f"{limit}. {remedy}"
    )


def dump_versions(versions: KeptVersions) -> dict[str, Any]:
    """Return the JSON form that the row stores."""
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
                "isAdjusted": one.is_adjusted,
                "bytes": one.bytes,
            }
            for one in versions.kept
        ],
    }


def load_versions(stored: Mapping[str, Any]) -> KeptVersions:
    """Parse versions from the JSON form of `dump_versions`."""
    kept = (
        ModelVersion(
            number=one["number"],
            folder=one["folder"],
            created_at=from_milliseconds(one["createdAt"]),
            examples=one["examples"],
            algorithm=one["algorithm"],
            not_served_because=one["notServed"],
            # Rows of older versions lack it.
            is_adjusted=one.get("isAdjusted", False),
            bytes=one.get("bytes"),
        )
        for one in stored["kept"]
    )
    return KeptVersions(tuple(kept), stored["last"])


def first_version(folder: str, created_at: datetime, examples: int) -> KeptVersions:
    """Return the versions of a model that was trained before versions were stored.

    Args:
        folder: the folder that is served; empty before the first success.
        created_at: time of the training.
        examples: examples of the training; 0 when not known.
    """
    if not folder:
        return KeptVersions()
    return KeptVersions((ModelVersion(1, folder, created_at, examples),), 1)


def version_not_found(number: int, kept: Sequence[int]) -> NotFound:
    """Return the error for a version that is not kept."""
    numbers = ", ".join(map(str, kept)) or "none"
    return NotFound(f"Version {number} of the model is not kept. Kept versions: {numbers}.")
