"""Creates thumbnails of images during the upload, or else when the images are first shown.

A missing thumbnail is not an error. The image itself is shown instead.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from chalicelib import log
from chalicelib.domain.common.head_calls import current_head_call
from chalicelib.domain.datasets.example import Example, Thumbnail
from chalicelib.errors import ServiceError
from chalicelib.formats.pictures.thumbnails import draw_thumbnail, read_for_thumbnail, suffices
from chalicelib.stores.examples.thumbnails import KnownThumbnails, PictureSize, ThumbnailStore

if TYPE_CHECKING:
    from chalicelib.domain.documents.picture import Picture
    from chalicelib.stores.examples.pictures import PictureStore

# Time limit of one call that makes missing thumbnails, in seconds.
MAKE_SECONDS = 2.0
# Lookups mostly wait for the bucket, so 16 of them run at the same time.
_LOOKS = 16
# Only two at a time: a decoded image may take hundreds of megabytes.
_DECODING = threading.BoundedSemaphore(2)


class ThumbnailService:
    """Creates, stores and returns thumbnails."""

    def __init__(self, pictures: PictureStore, thumbnails: ThumbnailStore) -> None:
        self._pictures = pictures
        self._thumbnails = thumbnails
        self._known = KnownThumbnails()

    def keep(self, dataset_id: int, digest: str, picture: Picture) -> PictureSize | None:
        """Store a thumbnail of a decoded image.

        Args:
            dataset_id: id of the dataset.
            digest: digest of the image's file, 32 hex digits.
            picture: the decoded image. If its size is too small, no thumbnail is made.

        Returns:
            Size of the image; None if no thumbnail was stored.
        """
        if not suffices(picture):
            return None
        thumbnails, size = self._thumbnails, PictureSize(picture.width, picture.height)
        try:
            thumbnails.put(dataset_id, digest, draw_thumbnail(picture), size)
            if self._pictures.exists(dataset_id, digest):
                return size
            # The image was deleted meanwhile, and its deletion could not yet see this thumbnail.
            thumbnails.delete(dataset_id, [digest])
        except ServiceError as error:
            _warn(dataset_id, digest, error)
        return None

    def show(self, dataset_id: int, examples: Sequence[Example]) -> Mapping[int, Thumbnail]:
        """Return thumbnails by example id. Spend up to 2 seconds on making missing thumbnails."""
        sizes = {one.example_id: self._known.get(one.example_id) for one in examples if one.picture}
        unseen = [one for one in examples if one.picture and sizes[one.example_id] is None]
        found = self._find(dataset_id, sorted({one.picture for one in unseen}))
        for one in unseen:
            sizes[one.example_id] = size = found[one.picture]
            if size is not None:
                self._known.note(one.example_id, size)
        shown = {}
        for one in examples:
            size = sizes.get(one.example_id)
            if size is not None:
                url = self._thumbnails.url(dataset_id, one.picture, one.name)
                shown[one.example_id] = Thumbnail(url, size.width, size.height)
        return shown

    def revert(self, dataset_id: int) -> None:
        """Delete the thumbnails of a deleted dataset."""
        self._thumbnails.delete_all(dataset_id)

    def _find(self, dataset_id: int, digests: Sequence[str]) -> dict[str, PictureSize | None]:
        if not digests:
            return {}
        head = current_head_call()
        ends_at = time.monotonic() + (0 if head else MAKE_SECONDS)
        find = log.with_context(lambda digest: self._find_one(dataset_id, digest, ends_at))
        with ThreadPoolExecutor(min(_LOOKS, len(digests)), "thumbnails") as threads:
            found = dict(zip(digests, threads.map(find, digests), strict=True))
        if head and None in found.values():
            # A GET would make the missing thumbnails now, and return them.
            head.has_length = False
        return found

    def _find_one(self, dataset_id: int, digest: str, ends_at: float) -> PictureSize | None:
        """Return the image size stored with a thumbnail; make the thumbnail if it is missing.

        No thumbnail is made after `ends_at`, which is in seconds of the monotonic clock.
        """
        try:
            size = self._thumbnails.find(dataset_id, digest)
            if size is not None or time.monotonic() >= ends_at:
                return size
            # The time is checked again, because waiting for a turn may have used it up.
            with _DECODING:
                if time.monotonic() >= ends_at:
                    return None
                content = self._pictures.get(dataset_id, digest)
                if content is None:
                    return None
                return self.keep(dataset_id, digest, read_for_thumbnail(content))
        except ServiceError as error:
            _warn(dataset_id, digest, error)
            return None


def _warn(dataset_id: int, digest: str, error: ServiceError) -> None:
    log.warning("thumbnail_left_out", dataset=dataset_id, digest=digest, cause=error.message)
