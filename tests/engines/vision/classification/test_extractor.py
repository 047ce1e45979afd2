"""Image embeddings: repeatable, with views that depend on the digest."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from chalicelib.domain.documents.picture import Picture
from chalicelib.engines.vision.backbone.pool import BackbonePool
from chalicelib.engines.vision.backbone.resizing import Augmentation
from chalicelib.engines.vision.classification.extractor import WHOLE, ClassificationExtractor, Look
from tests.engines.vision.drawn import draw

EXTRACTOR = ClassificationExtractor(BackbonePool(Path(__file__).parents[4] / ".models"))


def test_a_picture_gives_the_same_vector_every_time() -> None:
    """The same image gives the same non-negative float16 vector at each call."""
    image = draw("circle", 1)

    first, second = (EXTRACTOR.extract(image, b"x" * 16, 0) for _ in range(2))

    assert (np.float16, (1280,)) == (first.dtype, first.shape)
    assert 0 <= first.min() < first.max() <= 6
    np.testing.assert_array_equal(first, second)


def test_view_0_ignores_the_digest_and_others_follow_it() -> None:
    """View 0 is independent of the digest; other views are equal for equal digests."""
    image = draw("square", 2)

    def extract(digest: bytes, view: int) -> bytes:
        return EXTRACTOR.extract(image, digest, view).tobytes()

    assert extract(b"", 0) == extract(b"y" * 16, 0)
    assert extract(b"y" * 16, 1) == extract(b"y" * 16, 1)
    assert (
        len(
            {
                extract(b"y" * 16, 0),
                extract(b"y" * 16, 1),
                extract(b"y" * 16, 2),
                extract(b"z" * 16, 1),
            }
        )
        == 4
    )


def test_the_middle_of_a_view_lies_inside_of_what_the_view_shows() -> None:
    """The centre of a cropped view is computed from the part that the view shows."""
    left = Augmentation(crop=(0.0, 0.0, 0.5, 1.0), is_flipped=True)

    assert Look(0.5, 64).at(left) == Augmentation(crop=(0.125, 0.25, 0.375, 0.75), is_flipped=True)
    assert WHOLE.at(left) == left


def test_what_lies_in_the_middle_counts_twice() -> None:
    """A change in the centre of an image changes its vector more than one in a corner."""
    plain = np.full((320, 320, 3), 200, np.uint8)
    middle, corner = plain.copy(), plain.copy()
    middle[130:190, 130:190] = corner[:60, :60] = (200, 30, 30)

    first, second, third = (
        EXTRACTOR.extract(Picture(one, 320, 320), b"", 0).astype(float)
        for one in (plain, middle, corner)
    )

    assert np.abs(second - first).sum() > 1.2 * np.abs(third - first).sum()


def test_it_says_what_it_stores() -> None:
    """The extractor declares sizes, views and version for the feature service."""
    assert (
        EXTRACTOR.name,
        EXTRACTOR.least_side,
        EXTRACTOR.shard_rows,
        EXTRACTOR.row_bytes,
    ) == ("classification", 320, 64, 2560)
    assert [EXTRACTOR.views(9, 9, augment=one) for one in (False, True)] == [1, 4]
    assert len(EXTRACTOR.version) == 12
    assert int(EXTRACTOR.version, 16) >= 0
