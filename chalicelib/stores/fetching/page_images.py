"""Images of the pages of PDFs, stored in the bucket for an hour."""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.common.repeats import object_id
from chalicelib.domain.datasets.dataset import VISION
from chalicelib.domain.jobs.export import SUCCEEDED
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.aws.objects import ArtifactStore, page_images_prefix
from chalicelib.stores.aws.tables import ExportRow
from chalicelib.stores.jobs.exports import PAGE_IMAGES, PAGES_OWNER
from chalicelib.stores.jobs.row_leases import ENDED

# Seconds that images are stored: twice as long as their URLs are valid.
KEPT_SECONDS = 3600
# The sweep deletes rows with their files; the table's TTL only removes what the sweep missed.
_ROW_KEPT_SECONDS = 24 * 3600


@translate_errors
class PageImageStore:
    """Stores page images per account, and deletes them."""

    def __init__(self, clients: Clients, artifacts: ArtifactStore, clock: Clock) -> None:
        clients.bind_tables()
        self._artifacts = artifacts
        self._clock = clock

    def put(self, account_id: str, images: Mapping[int, bytes]) -> dict[int, str]:
        """Store the page images of one document.

        `images` are JPEG files by page number.

        Returns:
            The URLs of the images by page number, valid for 30 minutes.
        """
        images_id = object_id()
        now = to_milliseconds(self._clock())
        until = now + 1000 * KEPT_SECONDS
        # Written before the files, so that the sweep finds the files of an interrupted call.
        ExportRow(
            f"{account_id}{PAGES_OWNER}",
            images_id,
            kind=PAGE_IMAGES,
            family=VISION,
            dataset_id=0,
            format="jpeg",
            source=PAGE_IMAGES,
            status=SUCCEEDED,
            created_at=now,
            updated_at=now,
            due_at=until,
            expires_at=until // 1000 + _ROW_KEPT_SECONDS,
            open=ENDED,
        ).save()
        folder = f"{page_images_prefix(account_id)}{images_id}/"
        for number, content in images.items():
            self._artifacts.put(f"{folder}{number}.jpg", content)
        return {
            number: self._artifacts.url(f"{folder}{number}.jpg", f"page-{number}.jpg")
            for number in images
        }

    def delete_all(self, account_id: str) -> None:
        """Delete all page images of an account. The periodic sweep deletes their rows."""
        self._artifacts.delete_prefix(page_images_prefix(account_id))
