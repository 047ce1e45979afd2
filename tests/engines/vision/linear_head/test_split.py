"""Splitting images: groups stay together, every label is trained, several labels count."""

from __future__ import annotations

import numpy as np

from chalicelib.engines.vision.linear_head.split import ImageSplit, split_images
from chalicelib.engines.vision.linear_head.targets import ImageTargets
from tests.engines.vision.heads_data import digest_of


def _divide(
    targets: ImageTargets, groups: np.ndarray | None = None, ratio: float = 0.8
) -> ImageSplit:
    keys = [digest_of(place) for place in range(targets.pictures)]
    own = np.arange(targets.pictures) if groups is None else groups
    return split_images(targets, own, keys, ratio, 0, 5)


def test_a_group_is_never_torn() -> None:
    """Near-duplicates stay on one side and in one fold, also with different labels."""
    targets = ImageTargets([[place % 2] for place in range(60)], 2)
    groups = np.arange(60) // 3

    split = _divide(targets, groups)

    for group in range(20):
        assert len(np.unique(split.held_out[groups == group])) == 1
        assert len(np.unique(split.folds[groups == group])) == 1
    assert 8 <= split.held_out.sum() <= 12


def test_a_label_with_two_pictures_is_trained_and_not_tested() -> None:
    """A label with two images is trained on and not tested."""
    targets = ImageTargets([[0]] * 20 + [[1]] * 2, 2)

    assert not _divide(targets).held_out[20:].any()


def test_a_ratio_of_1_holds_nothing_out() -> None:
    """With a ratio of 1 nothing is held out."""
    assert not _divide(ImageTargets([[0]] * 9 + [[1]] * 9, 2), ratio=1.0).held_out.any()


def test_look_alikes_are_torn_when_nothing_could_be_tested() -> None:
    """If every label is one group, images are held out one by one."""
    targets = ImageTargets([[0]] * 10 + [[1]] * 10, 2)

    split = _divide(targets, np.repeat([0, 10], 10))

    assert split.held_out.sum() == 4


def test_every_fold_trains_on_every_label() -> None:
    """Every label is trained in every fold, even if its images share a fold."""
    targets = ImageTargets([[0]] * 30 + [[1]] + [[2]] * 4, 3)
    groups = np.concatenate([np.arange(31), np.repeat(31, 4)])

    split = _divide(targets, groups)

    assert split.folds[30:].tolist() == [-1] * 5
    assert {0, 1, 2, 3, 4} == set(split.folds[:30].tolist())


def test_pictures_of_several_labels_are_held_out_for_each() -> None:
    """No label loses more than its ratio, and rare labels are spread over the folds."""
    generator = np.random.default_rng(2)
    own = [[0, *([1] if generator.random() < 0.3 else []), *([2] * (n < 10))] for n in range(100)]
    targets = ImageTargets(own, 3)

    split = _divide(targets)

    held = targets.counts(np.flatnonzero(split.held_out))
    total = targets.counts(np.arange(100))
    assert (held <= np.ceil(0.2 * total)).all()
    assert held[0] >= 10
    rare = np.bincount(split.folds[:10], minlength=5)
    assert rare.max() <= 2


def test_targets_ignore_labels_without_pictures() -> None:
    """Columns are only the labels with images; dense rows and counts follow them."""
    targets = ImageTargets([[3, 1], [1], [3]], 5)

    assert targets.present.tolist() == [1, 3]
    assert targets.dense(np.array([1, 0])).tolist() == [[1, 0], [1, 1]]
    assert targets.counts(np.array([0, 2])).tolist() == [1, 2]
    assert targets.single().tolist() == [0, 0, 1]
