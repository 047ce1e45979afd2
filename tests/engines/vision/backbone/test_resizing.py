"""Augmented views of an image, which depend only on digest and view number."""

from __future__ import annotations

import numpy as np
import pytest

from chalicelib.engines.vision.backbone.resizing import (
    VIEWS,
    Augmentation,
    draw_augmentation,
    squash,
)


def _halves() -> np.ndarray:
    pixels = np.zeros((40, 80, 3), np.uint8)
    pixels[:, :40] = (200, 10, 10)
    pixels[:, 40:] = (10, 10, 200)
    return pixels


def test_view_0_is_the_picture_itself() -> None:
    """View 0 is the unchanged image, whatever the digest."""
    assert Augmentation() == draw_augmentation(b"anything", 0)


def test_views_differ_from_each_other_and_between_pictures() -> None:
    """Equal digests and numbers give equal views, others different ones, all within bounds."""
    views = {
        (name, number): draw_augmentation(name, number)
        for name in (b"a", b"b")
        for number in (1, 2)
    }

    assert draw_augmentation(b"a", 1) == views[b"a", 1]
    assert len(set(views.values())) == 4
    for number in range(1, 200):
        view = draw_augmentation(b"c", number)
        left, top, right, bottom = view.crop
        assert 0 <= left < right <= 1
        assert 0 <= top < bottom <= 1
        assert 0.5 - 1e-9 <= (right - left) * (bottom - top) <= 1 + 1e-9
        assert min(view.brightness, view.contrast) >= 0.7
        assert max(view.brightness, view.contrast) <= 1.3
    assert {True, False} == {draw_augmentation(b"c", number).is_flipped for number in range(1, 20)}
    assert VIEWS == 4


def test_squash_keeps_everything() -> None:
    """Squashing a wide image to a square keeps both of its halves."""
    square = squash(_halves(), 32)

    assert square.shape == (32, 32, 3)
    assert square.dtype == np.uint8
    np.testing.assert_array_equal([200, 10, 10], square[16, 4])
    np.testing.assert_array_equal([10, 10, 200], square[16, 27])


def test_a_flipped_view_exchanges_left_and_right() -> None:
    """A flipped view exchanges left and right."""
    square = squash(_halves(), 32, Augmentation(is_flipped=True))

    np.testing.assert_array_equal([10, 10, 200], square[16, 4])


def test_a_crop_shows_its_part_only() -> None:
    """A crop of the right half shows only that half."""
    square = squash(_halves(), 32, Augmentation(crop=(0.5, 0.0, 1.0, 1.0)))

    assert np.abs(square.astype(int) - (10, 10, 200)).max() <= 8


@pytest.mark.parametrize(
    ("brightness", "contrast", "expected"),
    [(1.3, 1.0, 255), (0.7, 1.0, 140), (1.0, 0.7, 178), (1.0, 1.3, 222)],
)
def test_light_changes_values(brightness: float, contrast: float, expected: int) -> None:
    """Brightness multiplies, contrast stretches around middle grey, and both are clipped."""
    square = squash(_halves(), 32, Augmentation(brightness=brightness, contrast=contrast))

    assert abs(int(square[16, 4, 0]) - expected) <= 1
