"""Computes features of a dataset's images once, and stores them by digest of the image.

Features are stored in rows. A row has the features of one view: an image, or an augmented copy of
it. Workers of the queue `embed` compute the rows of uploaded images in order, without copies. A
training loads the stored rows and computes missing rows, beginning with the last image. So workers
and a training can work on one dataset at the same time. Each group of rows is stored before the
next group is computed, so a training that dies loses at most one group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol

from chalicelib import log
from chalicelib.config import Settings
from chalicelib.domain.common.ids import new_string_id
from chalicelib.domain.common.limits import MAX_DETECTION_IMAGE_BYTES
from chalicelib.domain.datasets.dataset import DELETION_PENDING, Dataset
from chalicelib.domain.jobs.messages import FeaturesJob
from chalicelib.domain.jobs.spreading import PartWork, spread
from chalicelib.domain.models.model import Model
from chalicelib.domain.models.training_pictures import LabelledPicture, fitting_views
from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.vision import registry
from chalicelib.engines.vision.backbone.pool import BackboneNotInstalled, BackbonePool
from chalicelib.errors import BadRequest, TooLarge, UnsupportedType
from chalicelib.formats.pictures.reading import read_picture
from chalicelib.stores.aws.objects import ArtifactStore, dataset_prefix
from chalicelib.stores.examples.feature_rows import FeatureRows, row_key
from chalicelib.stores.examples.parts import PART_PICTURES, PartStore
from chalicelib.stores.jobs.queues import EMBED, Queues
from chalicelib.stores.models.run_parts import RunPart

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Halves
    from chalicelib.domain.documents.picture import Picture
    from chalicelib.engines.vision.features.shards import Shard, ShardEntry
    from chalicelib.engines.vision.features.stored import StoredFeatures
    from chalicelib.engines.vision.interface import Extractor
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.examples.pictures import PictureStore

    Rows = tuple[tuple[int, int], list[Halves]]

# Delegates rows to other workers as a named stage. The pair is the fraction of all rows that exist
# before the stage and after it.
Delegate = Callable[[str, list[PartWork], tuple[float, float]], None]
# Called between objects with the numbers of existing rows, all rows, and rows made by this call.
Check = Callable[[int, int, int], None]
# Remaining time of a function at which the next one continues with a part, in seconds.
RESERVE_SECONDS = 60.0
_LISTING_SHARE = 20
_FEATURES = "features/"
_VIEWS = "views/"


@dataclass(frozen=True, kw_only=True)
class FeatureServiceStores:
    """Stores used by `FeatureService`."""

    artifacts: ArtifactStore
    datasets: DatasetStore
    parts: PartStore
    pictures: PictureStore
    queues: Queues


class ThumbnailMaker(Protocol):
    """Creates thumbnails of images that are decoded to compute features."""

    def keep(self, dataset_id: int, digest: str, picture: Picture) -> object:
        """Create and store a thumbnail. Errors are ignored."""

    def revert(self, dataset_id: int) -> None:
        """Delete the thumbnails of a deleted dataset."""


class FeatureService:
    """Computes and stores the features of images in datasets."""

    def __init__(
        self,
        stores: FeatureServiceStores,
        backbones: BackbonePool,
        settings: Settings,
        thumbnails: ThumbnailMaker,
    ) -> None:
        self._stores = stores
        self._backbones = backbones
        self._settings = settings
        self._thumbnails = thumbnails

    def run_part(self, job: FeaturesJob, remaining_seconds: Callable[[], float]) -> bool:
        """Compute the features of one part of an upload; return whether the part is finished.

        If the time is too short for all features, the job is sent again.
        """
        is_done = False
        part = job.part
        items = self._stores.parts.items(part)
        dataset = self._stores.datasets.find(job.account_id, job.family, job.dataset_id)
        if items is not None and dataset is not None and dataset.status != DELETION_PENDING:
            try:
                is_done = self._make_part(dataset, part, items, remaining_seconds)
            except BackboneNotInstalled as missing:
                log.warning("features_left_out", dataset=job.dataset_id, cause=str(missing))
                is_done = True
            if is_done:
                self._stores.parts.delete(part)
            else:
                self._stores.queues.send(EMBED, job)
        self.revert(job.account_id, job.family, job.dataset_id)
        return is_done

    def collect(
        self,
        pictures: Sequence[LabelledPicture],
        extractor: Extractor,
        *,
        copies: int,
        is_default: bool,
        check: Check,
        delegate: Delegate = lambda stage, works, shares: None,
    ) -> StoredFeatures:
        """Return the features of all images of a training; compute and store missing features.

        Args:
            pictures: images of one or more datasets.
            extractor: computes the features.
            copies: maximum number of augmented views, summed over all images.
            is_default: whether workers of uploads use this extractor. If so, this training may
                delete a part that waits for these workers: a part whose images are all in
                `pictures`.
            check: called between stored objects (groups of rows) with the numbers of existing rows,
                of all rows, and of rows that this call computed; may raise an error to stop.
            delegate: called with the missing rows if there are many; may raise an error to stop.

        Returns:
            The features of all readable images. The caller must close them.

        Raises:
            BackboneNotInstalled: the files of a backbone are missing.
        """
        settings = self._settings
        rows = FeatureRows(self._stores.artifacts, extractor.row_bytes, settings.feature_file_bytes)
        try:
            maker = _Maker(self._stores, extractor, settings.threads)
            gathering = _FeatureCollection(self._stores, maker, rows, check, delegate)
            found = gathering.run(
                pictures, settings.feature_bytes, copies=copies, is_default=is_default
            )
        except BaseException:
            rows.close()
            raise
        return found

    def make_run_part(self, model: Model, part: RunPart) -> None:
        """Compute the feature rows of a part that a training delegated."""
        extractor = registry.extractor_for(model.type, model.request.algorithm, self._backbones)
        maker = _Maker(self._stores, extractor, self._settings.threads)
        wanted = [_read_item(item) for item in part.items]
        prefix = f"{maker.folder(part.dataset_id, wanted[0][1])}{part.name}-"
        for start in range(0, len(wanted), extractor.shard_rows):
            group = wanted[start : start + extractor.shard_rows]
            maker.make(part.dataset_id, group, f"{prefix}{start:05d}.npz")

    def revert(self, account_id: str, family: str, dataset_id: int) -> None:
        """Delete features that were stored after their dataset had been deleted."""
        dataset = self._stores.datasets.find(account_id, family, dataset_id)
        if dataset is None or dataset.status == DELETION_PENDING:
            self._stores.artifacts.delete_prefix(f"{dataset_prefix(dataset_id)}{_FEATURES}")
            self._thumbnails.revert(dataset_id)

    def _make_part(
        self,
        dataset: Dataset,
        part: str,
        items: Sequence[str],
        remaining_seconds: Callable[[], float],
    ) -> bool:
        """Compute the missing feature objects of a part; return False if the time was too short."""
        extractor = registry.extractor_for(dataset.type, None, self._backbones)
        keep = self._thumbnails.keep
        maker = _Maker(self._stores, extractor, self._settings.threads, keep)
        path = PurePosixPath(part)
        before = int(path.stem) * PART_PICTURES * extractor.row_bytes
        if before >= self._settings.feature_bytes:
            # Features of detection are large and most images are never trained on, so beyond this
            # size a training computes what it needs.
            return True
        prefix = f"{maker.folder(dataset.dataset_id)}{path.parent.name}-{path.stem}-"
        known, is_first = set(self._stores.artifacts.keys(prefix)), True
        for start in range(0, len(items), extractor.shard_rows):
            key = f"{prefix}{start:05d}.npz"
            if key in known:
                continue
            # At least one object per run, so that each run makes progress.
            if not is_first and remaining_seconds() < RESERVE_SECONDS:
                return False
            group = items[start : start + extractor.shard_rows]
            maker.make(dataset.dataset_id, [(bytes.fromhex(item), 0) for item in group], key)
            is_first = False
        return True


class _Maker:
    """Computes the feature rows of a group of images, and stores them as one object."""

    def __init__(
        self,
        stores: FeatureServiceStores,
        extractor: Extractor,
        threads: int,
        see: Callable[[int, str, Picture], object] = lambda *_: None,
    ) -> None:
        # `see` is called with each decoded image, its dataset and digest.
        self._stores = stores
        self.extractor = extractor
        self._threads = max(1, threads)
        self._see = see
        self._name = f"{extractor.name}-{extractor.version}"

    def folder(self, dataset_id: int, view: int = 0) -> str:
        # The version is in the name, so that rows of another version are never mixed in.
        folder = f"{dataset_prefix(dataset_id)}{_FEATURES}{self._name}/"
        return f"{folder}{_VIEWS}" if view else folder

    def make(
        self, dataset_id: int, items: Sequence[tuple[bytes, int]], key: str
    ) -> tuple[bytes, Shard] | None:
        """Compute feature rows and store them as one object.

        A row has the features of one view: an image or an augmented copy. Unreadable images are
        left out.

        Args:
            dataset_id: dataset of the images.
            items: image digest and view number of each row, grouped by image.
            key: key of the object.

        Returns:
            The bytes of the object, and its index; None if no image can be read.
        """
        from chalicelib.engines.vision.features.shards import ShardEntry, dump_shard, read_head

        views: dict[bytes, list[int]] = {}
        # An image is decoded once for all of its views.
        for digest, view in items:
            views.setdefault(digest, []).append(view)
        with ThreadPoolExecutor(self._threads) as pool:
            rows_of = log.with_context(lambda item: self._rows(dataset_id, *item))
            pictures = pool.map(rows_of, views.items())
            viewed = list(zip(views.items(), pictures, strict=True))
        entries: list[ShardEntry] = []
        rows: list[Halves] = []
        for (digest, numbers), picture in viewed:
            if picture is not None:
                entries += [ShardEntry(digest, number, picture[0]) for number in numbers]
                rows += picture[1]
        if not rows:
            return None
        content = dump_shard(entries, rows)
        self._stores.artifacts.put(key, content)
        return content, read_head(content)

    def _rows(self, dataset_id: int, digest: bytes, views: Sequence[int]) -> Rows | None:
        """Return the size and the feature rows of one image; None if the image cannot be read."""
        content = self._stores.pictures.get(dataset_id, digest.hex())
        try:
            picture = read_picture(
                content or b"", MAX_DETECTION_IMAGE_BYTES, self.extractor.least_side
            )
        except (BadRequest, TooLarge, UnsupportedType) as refusal:
            cause = "it is gone" if content is None else refusal.message
            log.warning("picture_left_out", dataset=dataset_id, digest=digest.hex(), cause=cause)
            return None
        self._see(dataset_id, digest.hex(), picture)
        rows = [self.extractor.extract(picture, digest, view) for view in views]
        return (picture.width, picture.height), rows


class _FeatureCollection:
    """Collects all feature rows of a training: loads stored rows, then computes missing rows."""

    def __init__(
        self,
        stores: FeatureServiceStores,
        maker: _Maker,
        rows: FeatureRows,
        check: Check,
        delegate: Delegate,
    ) -> None:
        self._stores = stores
        self._maker = maker
        self._extractor = maker.extractor
        self._rows = rows
        self._check = check
        self._delegate = delegate
        self._is_default = False
        self._pictures: list[tuple[int, bytes]] = []
        self._numbers: dict[tuple[int, bytes], int] = {}
        self._sizes: dict[int, tuple[int, int]] = {}
        self._views: list[int] = []
        self._broken: set[int] = set()
        self._known: set[str] = set()
        self._total = self._made = self._unseen = 0

    def run(
        self,
        pictures: Sequence[LabelledPicture],
        most_bytes: int,
        *,
        copies: int,
        is_default: bool,
    ) -> StoredFeatures:
        """Collect features of all images, then of augmented copies, together up to `most_bytes`."""
        from chalicelib.engines.vision.features.stored import StoredFeatures, StoredPicture

        keys = [(picture.dataset_id, picture.digest) for picture in pictures]
        self._pictures = list(dict.fromkeys(keys))
        self._numbers = {key: number for number, key in enumerate(self._pictures)}
        self._views = [1] * len(self._pictures)
        plain, wanted = (
            len(self._pictures) * self._extractor.views(1024, 1024, augment=asked)
            for asked in (False, copies > 0)
        )
        self._total = min(wanted, plain + copies)
        self._is_default = is_default
        # Unaugmented images first: they give the sizes, on which the number of views depends.
        self._complete(0)
        self._count_views(most_bytes, copies)
        if self._total > len(self._pictures) - len(self._broken):
            self._complete(1)
        if self._made:
            self._clear_parts()
        places = [p for p, key in enumerate(keys) if self._numbers[key] not in self._broken]
        numbers = [self._numbers[keys[place]] for place in places]
        stored = [StoredPicture(n, self._sizes[n], self._views[n]) for n in numbers]
        return StoredFeatures(
            places, stored, lambda n, view: self._rows.get(row_key(n, view)), self._rows.close
        )

    def _clear_parts(self) -> None:
        """Delete waiting parts of uploads if all of their images are in this training."""
        if not self._is_default:
            return
        for dataset_id in dict.fromkeys(dataset_id for dataset_id, _ in self._pictures):
            for part in self._stores.parts.waiting(dataset_id):
                digests = [bytes.fromhex(item) for item in self._stores.parts.items(part) or ()]
                if all((dataset_id, digest) in self._numbers for digest in digests):
                    self._stores.parts.delete(part)

    def _complete(self, first_view: int) -> None:
        """Load or compute the feature rows of all views with the number `first_view` or above."""
        waiting = [
            (number, view)
            for number, views in enumerate(self._views)
            for view in range(first_view, views)
            if row_key(number, view) not in self._rows
        ]
        expected = len(self._rows) + len(waiting)
        self._unseen = len(self._known)
        is_asked = False
        while True:
            self._check(len(self._rows), self._total, self._made)
            self._unseen += 1
            # The ingest may have made some rows meanwhile. Listing takes longer with every key, so
            # it is repeated less and less often.
            if self._unseen * _LISTING_SHARE >= len(self._known):
                self._load_new(first_view, expected)
            group = self._next_group(waiting)
            if not group:
                return
            if not is_asked:
                is_asked = True
                self._delegate_missing([*waiting, *group], first_view, expected)
            self._make(group)

    def _delegate_missing(
        self, waiting: Sequence[tuple[int, int]], first_view: int, expected: int
    ) -> None:
        """If many feature rows are still missing, delegate these rows to other workers."""
        by_dataset: dict[int, list[str]] = {}
        for number, view in waiting:
            if row_key(number, view) not in self._rows and number not in self._broken:
                dataset_id, digest = self._pictures[number]
                by_dataset.setdefault(dataset_id, []).append(f"{digest.hex()}:{view}")
        extractor = self._extractor
        works = [
            PartWork(dataset_id, extractor.name, part)
            for dataset_id, items in by_dataset.items()
            for part in spread(items, lambda item: extractor.row_seconds)
        ]
        shares = len(self._rows) / self._total, expected / self._total
        if works and not first_view:
            self._clear_parts()
        self._delegate(f"views-{first_view}", works, shares)

    def _next_group(self, waiting: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the next rows to compute: missing rows of one dataset, from the end of `waiting`.

        The end comes first, because workers of uploads compute the same rows from the beginning.
        """
        group: list[tuple[int, int]] = []
        while waiting and len(group) < self._extractor.shard_rows:
            number, view = waiting[-1]
            if row_key(number, view) not in self._rows and number not in self._broken:
                if group and self._pictures[group[0][0]][0] != self._pictures[number][0]:
                    break
                group.append((number, view))
            waiting.pop()
        return group[::-1]

    def _make(self, group: Sequence[tuple[int, int]]) -> None:
        """Compute a group of rows, store them as one object, and add them to the collection."""
        dataset_id = self._pictures[group[0][0]][0]
        key = f"{self._maker.folder(dataset_id, group[0][1])}{new_string_id()}.npz"
        wanted = [(self._pictures[number][1], view) for number, view in group]
        shard = self._maker.make(dataset_id, wanted, key)
        self._known.add(key)
        if shard is not None:
            self._add_rows(dataset_id, key, shard[1], shard[0])
            self._made += len(shard[1].entries)
        self._broken |= {n for n, view in group if row_key(n, view) not in self._rows}

    def _load_new(self, first_view: int, expected: int) -> None:
        """Load feature rows from all objects in the bucket that were not loaded before."""
        self._unseen = 0
        for dataset_id in dict.fromkeys(dataset_id for dataset_id, _ in self._pictures):
            folder = self._maker.folder(dataset_id)
            for key in self._stores.artifacts.keys(folder):
                is_of_views = key.startswith(f"{folder}{_VIEWS}")
                if key in self._known or is_of_views != (first_view > 0):
                    continue
                if len(self._rows) >= expected:
                    return
                self._known.add(key)
                self._load(dataset_id, key)

    def _load(self, dataset_id: int, key: str) -> None:
        """Load the rows of one object. The rows of a damaged object are computed again."""
        from chalicelib.engines.vision.features.shards import head_bytes, read_head, read_shard

        artifacts = self._stores.artifacts
        try:
            if self._rows.has_space:
                content = artifacts.get(key)
                if content is not None:
                    self._add_rows(dataset_id, key, read_shard(content), content)
            else:
                # With full memory only the index is read; rows are read from the bucket when they
                # are used.
                head = artifacts.get_range(key, 0, head_bytes(self._extractor.shard_rows))
                if head is not None:
                    self._add_rows(dataset_id, key, read_head(head), None)
        except (ArtifactError, ValueError, KeyError) as damage:
            log.warning("features_damaged", key=key, cause=str(damage))
        self._check(len(self._rows), self._total, 0)

    def _add_rows(self, dataset_id: int, key: str, shard: Shard, content: bytes | None) -> None:
        """Add those rows of a stored object that this training uses.

        Without `content`, a row is read from the bucket when it is used.
        """
        if shard.row_bytes != self._extractor.row_bytes:
            return
        whole = None if content is None else memoryview(content)
        for place, entry in enumerate(shard.entries):
            number = self._numbers.get((dataset_id, entry.digest))
            if number is None or entry.view >= self._views[number]:
                continue
            start = shard.place(place)
            row = None if whole is None else whole[start : start + shard.row_bytes]
            self._rows.add(row_key(number, entry.view), (key, start), row)
            self._sizes[number] = entry.size

    def _count_views(self, most_bytes: int, copies: int) -> None:
        """Set how many views of each image are used; 0 for unreadable images."""
        sizes = [self._sizes.get(number) for number in range(len(self._pictures))]
        plain, wanted = (
            [self._extractor.views(*size, augment=asked) if size else 0 for size in sizes]
            for asked in (False, copies > 0)
        )
        wanted = fitting_views(plain, wanted, sum(plain) + copies)
        self._views = fitting_views(plain, wanted, most_bytes // self._extractor.row_bytes)
        self._total = sum(self._views)
        if self._total < sum(wanted):
            log.warning("views_left_out", wanted=sum(wanted), used=self._total)


def _read_item(item: str) -> tuple[bytes, int]:
    """Return the image digest and the view number of a feature row to compute."""
    digest, _, view = item.partition(":")
    return bytes.fromhex(digest), int(view)
