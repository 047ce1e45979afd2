"""Reads the evaluation archives as an upload does, and caches their features in build/bench."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from bench.report import say
from chalicelib.domain.common.limits import MAX_DETECTION_IMAGE_BYTES
from chalicelib.domain.documents.picture import Box, Picture
from chalicelib.domain.models.training_pictures import (
    LabelledBox,
    LabelledPicture,
    TrainingPictures,
    fitting_views,
)
from chalicelib.engines.vision.interface import Extractor
from chalicelib.formats.archives.picture_scan import ImageRules, Sink, scan_images
from chalicelib.formats.pictures.reading import read_picture

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "bench"
THREADS = 2


@dataclass(frozen=True)
class Example:
    """One example of an evaluation archive."""

    label: str
    name: str
    digest: bytes
    box: Box | None


@dataclass(frozen=True)
class PictureSet:
    """The examples and images of an evaluation archive, as the service would store them."""

    name: str
    examples: list[Example]
    files: dict[bytes, bytes]
    """Image files by digest."""

    @property
    def labels(self) -> list[str]:
        """Return the labels in order of first appearance."""
        return list(dict.fromkeys(example.label for example in self.examples))

    def only(self, keep: Sequence[int], name: str) -> PictureSet:
        """Return only the examples at the indexes `keep`."""
        return replace(self, name=name, examples=[self.examples[place] for place in keep])

    def open(self, digest: bytes, least_side: int) -> Picture:
        """Decode the image with this digest."""
        return read_picture(self.files[digest], MAX_DETECTION_IMAGE_BYTES, least_side)


def read_set(data: Path, name: str, dataset_type: str) -> PictureSet:
    """Read an evaluation archive with the reader of the service."""
    files: dict[bytes, bytes] = {}

    def keep(digest: bytes, content: bytes, facts: object) -> None:
        files[digest] = content

    with (data / "vision" / f"{name}.zip").open("rb") as file:
        found = scan_images(file, ImageRules(dataset_type), Sink(keep, lambda: None))
    examples = [Example(item.label, item.name, item.digest, item.box) for item in found.items]
    return PictureSet(name, examples, files)


def class_pictures(examples: Sequence[Example], labels: Sequence[str]) -> TrainingPictures:
    """Return an image with one label for each example."""
    places = {label: place for place, label in enumerate(labels)}
    pictures = [
        LabelledPicture(0, e.digest, e.name, (places[e.label],), (number,))
        for number, e in enumerate(examples)
    ]
    return TrainingPictures(list(labels), pictures, len(examples))


def multi_label_pictures(examples: Sequence[Example], labels: Sequence[str]) -> TrainingPictures:
    """Return each image with all of its labels."""
    places = {label: place for place, label in enumerate(labels)}
    groups: dict[bytes, list[tuple[int, Example]]] = defaultdict(list)
    for number, example in enumerate(examples):
        groups[example.digest].append((number, example))
    pictures = [
        LabelledPicture(
            0,
            digest,
            group[0][1].name,
            tuple(places[e.label] for _, e in group),
            tuple(number for number, _ in group),
        )
        for digest, group in groups.items()
    ]
    return TrainingPictures(list(labels), pictures, len(examples))


def boxed_pictures(examples: Sequence[Example], labels: Sequence[str]) -> TrainingPictures:
    """Return each image with all of its boxes."""
    places = {label: place for place, label in enumerate(labels)}
    groups: dict[tuple[bytes, str], list[LabelledBox]] = defaultdict(list)
    for number, example in enumerate(examples):
        if example.box is not None and example.label in places:
            box = LabelledBox(places[example.label], example.box, number)
            groups[example.digest, example.name].append(box)
    pictures = [
        LabelledPicture(0, digest, name, boxes=tuple(boxes))
        for (digest, name), boxes in groups.items()
    ]
    return TrainingPictures(list(labels), pictures, len(examples))


class CachedFeatures:
    """Reads features of images. Features without augmentation are cached on disk between runs."""

    def __init__(self, extractor: Extractor, source: PictureSet, digests: Sequence[bytes]) -> None:
        self._extractor, self._source, self._digests = extractor, source, list(digests)
        key = sha256(b"".join(sorted(source.files))).hexdigest()[:16]
        folder = BUILD / "features" / f"{extractor.name}-{extractor.version}"
        path = folder / f"{source.name.replace('/', '-')}-{key}.npz"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            self._compute(path)
        with np.load(path, allow_pickle=False) as kept:
            self._rows, self._first = kept["rows"], kept["first"]
            self._sizes = kept["sizes"].tolist()
            order = [bytes(row) for row in kept["digests"]]
        self._places = {digest: place for place, digest in enumerate(order)}
        self._copies: dict[bytes, list[np.ndarray]] = {}

    def of(self, digests: Sequence[bytes]) -> CachedFeatures:
        """Return the features of the images of the set that have these digests."""
        other = copy(self)
        other._digests = list(digests)
        return other

    def copied(self, most: int) -> CachedFeatures:
        """Return the features of the images and their augmented copies, at most `most` in total."""
        count = len(self._digests)
        wanted = self._extractor.views(*self.size(0), augment=True)
        views = range(1, fitting_views([1] * count, [wanted] * count, count + most)[0])

        def copies_of(digest: bytes) -> list[np.ndarray]:
            picture = self._source.open(digest, self._extractor.least_side)
            return [self._extractor.extract(picture, digest, view) for view in views]

        other = copy(self)
        start, digests = time.perf_counter(), list(dict.fromkeys(self._digests))
        with ThreadPoolExecutor(THREADS) as pool:
            other._copies = dict(zip(digests, pool.map(copies_of, digests), strict=True))
        say(f"{len(views)} copies of {len(digests)} images, {time.perf_counter() - start:.1f} s")
        return other

    def size(self, place: int) -> tuple[int, int]:
        """Return width and height of the image `place`, in pixels."""
        width, height = self._sizes[self._places[self._digests[place]]]
        return width, height

    def views(self, place: int) -> int:
        """Return the number of views (variants) of the image `place` that have features."""
        known = self._places[self._digests[place]]
        copies = len(self._copies.get(self._digests[place], ()))
        return int(self._first[known + 1] - self._first[known]) + copies

    def row(self, place: int, view: int = 0) -> np.ndarray:
        """Return the features of one view of the image `place`. View 0 is the unchanged image."""
        copies = self._copies.get(self._digests[place])
        if copies and view:
            return copies[view - 1]
        return self._rows[self._first[self._places[self._digests[place]]] + view]

    def _compute(self, path: Path) -> None:
        """Compute the features of every image."""
        start = time.perf_counter()
        order = list(self._source.files)

        def rows_of(digest: bytes) -> tuple[list[np.ndarray], tuple[int, int]]:
            picture = self._source.open(digest, self._extractor.least_side)
            count = self._extractor.views(picture.width, picture.height, augment=False)
            rows = [self._extractor.extract(picture, digest, view) for view in range(count)]
            return rows, (picture.width, picture.height)

        with ThreadPoolExecutor(THREADS) as pool:
            found = list(pool.map(rows_of, order))
        counts = [len(rows) for rows, _ in found]
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as part:
            np.savez(
                part,
                rows=np.stack([row for rows, _ in found for row in rows]),
                first=np.concatenate([[0], np.cumsum(counts)]),
                sizes=np.array([size for _, size in found]),
                digests=np.frombuffer(b"".join(order), np.uint8).reshape(len(order), -1),
            )
        Path(part.name).replace(path)
        seconds = time.perf_counter() - start
        say(f"{self._source.name}: {len(order)} images, {self._extractor.name}, {seconds:.1f} s")
