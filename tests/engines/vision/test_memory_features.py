"""Features held in memory."""

import numpy as np
import pytest

from chalicelib.domain.documents.picture import Picture
from tests.engines.vision.memory_features import MemoryFeatures


class Sums:
    """An extractor whose features are the sum of the pixels, the digest and the view."""

    def views(self, width: int, height: int, *, augment: bool) -> int:
        """Return one view, plus one for each ten pixels of width."""
        return 1 + width // 10 if augment else 1

    def extract(self, image: Picture, digest: bytes, view: int) -> np.ndarray:
        """Return three numbers."""
        return np.array([image.pixels.sum(), digest[0], view], np.float16)


def pictures() -> list[Picture]:
    """Return images of several sizes, reduced in decoding."""
    return [Picture(np.full((2, 2, 3), value, np.uint8), 10 * value, 5) for value in range(1, 6)]


@pytest.mark.parametrize("threads", [1, 3])
def test_every_view_of_every_picture_has_its_row(threads: int):
    """Rows, sizes and numbers of views match the images, for any number of threads."""
    digests = [bytes([place + 7]) * 16 for place in range(5)]

    features = MemoryFeatures(Sums(), pictures(), digests, augment=True, threads=threads)

    for place in range(5):
        assert features.size(place) == (10 * (place + 1), 5)
        assert features.views(place) == place + 2
        for view in range(features.views(place)):
            assert features.row(place, view).tolist() == [12 * (place + 1), place + 7, view]


def test_without_augmentation_there_is_one_view():
    """Without augmentation only the image itself is computed."""
    features = MemoryFeatures(Sums(), pictures(), [b"x" * 16] * 5)

    assert [features.views(place) for place in range(5)] == [1] * 5
