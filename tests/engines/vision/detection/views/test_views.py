"""Views and the boxes that are transformed with them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from chalicelib.engines.vision.detection.views.extractor import render
from chalicelib.engines.vision.detection.views.maps import SIDE
from chalicelib.engines.vision.detection.views.views import ImageView, augmented_view, tiled_views

DIGESTS = st.binary(min_size=16, max_size=16)


@given(DIGESTS, st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_boxes_come_back_from_every_view(digest: bytes, number: int):
    """A box transformed to a view and back is unchanged."""
    view = augmented_view(digest, number)
    boxes = np.array([[10.0, 20.0, 110.0, 220.0], [0.0, 0.0, 640.0, 480.0]])

    moved = view.to_view(boxes, 640, 480)

    np.testing.assert_allclose(boxes, view.to_picture(moved, 640, 480), atol=1e-9)
    assert (moved[:, 2:] > moved[:, :2]).all()


@given(DIGESTS, st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_a_view_follows_from_digest_and_number_alone(digest: bytes, number: int):
    """A view depends only on digest and number, and stays inside image and square."""
    view = augmented_view(digest, number)

    assert view == augmented_view(digest, number)
    left, top, right, bottom = view.source
    assert 0 <= left < right <= 1 + 1e-9
    assert 0 <= top < bottom <= 1 + 1e-9
    assert right - left >= 0.5 - 1e-9
    assert 0 <= view.target[0] < view.target[2] <= SIDE
    assert view.target[2] - view.target[0] >= SIDE / 1.6 - 1


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("digest", [bytes([value]) * 16 for value in (0, 7, 200)])
def test_what_is_drawn_moves_as_its_box_does(digest: bytes, number: int):
    """A drawn square appears where its transformed box is."""
    pixels = np.zeros((300, 400, 3), np.uint8)
    pixels[120:180, 170:260, 0] = 255
    view = augmented_view(digest, number)

    shown = render(pixels, view).astype(int)

    red = np.argwhere(shown[:, :, 0] - shown[:, :, 1] > 60)
    expected = view.to_view(np.array([[170.0, 120.0, 260.0, 180.0]]), 400, 300)[0]
    expected = np.clip(expected, 0, SIDE)
    assert red[:, 1].min() == pytest.approx(expected[0], abs=2)
    assert red[:, 0].min() == pytest.approx(expected[1], abs=2)
    assert red[:, 1].max() + 1 == pytest.approx(expected[2], abs=2)
    assert red[:, 0].max() + 1 == pytest.approx(expected[3], abs=2)


@given(st.integers(20, 6000), st.integers(20, 6000))
@settings(max_examples=80, deadline=None)
def test_tiles_cover_the_picture(width: int, height: int):
    """Tiles touch all borders and overlap by 83 pixels; with the whole there are at most 17."""
    whole, *tiles = tiled_views(width, height)
    scale = 1250 / max(width, height)

    assert whole == ImageView()
    assert len(tiles) <= 16
    for axis, length in ((0, width), (1, height)):
        spans = sorted({(tile.source[axis], tile.source[axis + 2]) for tile in tiles})
        assert spans[0][0] == 0.0
        assert spans[-1][1] == pytest.approx(1.0)
        for (_, end), (start, _) in pairwise(spans):
            assert (end - start) * length * scale >= 416 - 333 - 1e-6


def test_tiles_keep_the_shape_of_what_they_show():
    """A tile of a wide image keeps its aspect ratio; the rest is grey."""
    view = tiled_views(1250, 200)[1]
    boxes = view.to_view(np.array([[0.0, 0.0, 100.0, 100.0]]), 1250, 200)

    assert boxes[0] == pytest.approx([0, 0, 100, 100])
    assert (render(np.zeros((200, 1250, 3), np.uint8), view)[200:] == 114).all()


def test_a_reduced_picture_shows_the_same():
    """Boxes refer to the full image, however far it was reduced in decoding."""
    image = Image.new("RGB", (800, 600), (10, 20, 30))
    image.paste((250, 0, 0), (200, 150, 400, 300))
    small = image.resize((400, 300))
    view = augmented_view(b"x" * 16, 2)

    large_view, small_view = (render(np.asarray(each), view) for each in (image, small))

    assert np.abs(large_view.astype(int) - small_view).mean() < 2
