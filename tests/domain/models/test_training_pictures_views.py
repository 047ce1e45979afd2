"""Augmented views give way to space; pictures never do."""

from __future__ import annotations

import pytest

from chalicelib.domain.models.training_pictures import default_copies, fitting_views


@pytest.mark.parametrize(
    ("plain", "wanted", "most", "views"),
    [
        ([], [], 0, []),
        ([1, 1], [4, 4], 8, [4, 4]),
        ([1, 1], [4, 4], 7, [3, 3]),
        ([1, 1], [4, 4], 0, [1, 1]),
        ([9, 2], [9, 2], 5, [9, 2]),
        ([5, 2], [7, 6], 10, [6, 3]),
        ([5, 2], [7, 6], 11, [7, 4]),
        ([1, 0], [4, 0], 3, [3, 0]),
    ],
)
def test_fitting_views(plain: list[int], wanted: list[int], most: int, views: list[int]) -> None:
    """As many augmented views as fit are used, the same number of each picture."""
    assert fitting_views(plain, wanted, most) == views


@pytest.mark.parametrize(
    ("pictures", "views"), [(1, 4), (60, 4), (61, 1), (200, 1), (201, 2), (5_000, 2)]
)
def test_few_pictures_are_altered_and_many_are_mirrored(pictures: int, views: int) -> None:
    """Few images have three copies each, many one; in between there are none."""
    most = pictures + default_copies(pictures)

    assert fitting_views([1] * pictures, [4] * pictures, most) == [views] * pictures
