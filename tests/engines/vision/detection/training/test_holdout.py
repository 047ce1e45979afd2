"""The choice of held-out images."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.documents.picture import Box
from chalicelib.domain.models.training_pictures import LabelledBox, LabelledPicture
from chalicelib.engines.vision.detection.training.holdout import hold_out_images


def pictures_of(labels: list[set[int]], digests: list[int] | None = None) -> list[LabelledPicture]:
    """Return images with one box of each label."""
    numbers = digests or list(range(len(labels)))
    return [
        LabelledPicture(
            1,
            number.to_bytes(16, "big"),
            f"{place}.jpg",
            boxes=tuple(LabelledBox(label, Box(0, 0, 9, 9), 0) for label in sorted(shown)),
        )
        for place, (shown, number) in enumerate(zip(labels, numbers, strict=True))
    ]


def test_a_tenth_is_held_out():
    """Of 160 pictures of one label 16 are tested."""
    held = hold_out_images(pictures_of([{0}] * 160), 1, 0.9, 0)

    assert len(held) == 16
    assert held != hold_out_images(pictures_of([{0}] * 160), 1, 0.9, 1)


def test_a_share_of_one_holds_nothing_out():
    """With a ratio of 1 nothing is held out."""
    assert hold_out_images(pictures_of([{0}] * 30), 1, 1.0, 0) == []


@given(
    st.lists(st.tuples(st.sets(st.integers(0, 4), max_size=3), st.integers(0, 12)), max_size=40),
    st.floats(0.5, 0.95),
)
@settings(max_examples=100, deadline=None)
def test_every_label_stays_trained_and_equal_files_stay_together(
    drawn: list[tuple[set[int], int]], share: float
):
    """Every label keeps training images, rare labels lose none, equal files stay together."""
    pictures = pictures_of([shown for shown, _ in drawn], [digest for _, digest in drawn])

    held = set(hold_out_images(pictures, 5, share, 3))

    digests = {pictures[place].digest for place in held}
    assert held == {place for place, each in enumerate(pictures) if each.digest in digests}
    for label in range(5):
        with_label = {
            place
            for place, each in enumerate(pictures)
            if label in {known.label for known in each.boxes}
        }
        files = {pictures[place].digest for place in with_label}
        assert not with_label or with_label - held
        assert len(files) >= 3 or not with_label & held


def test_every_common_label_is_tested():
    """For images with several labels each label is tested about equally often."""
    generator = np.random.default_rng(0)
    shown = [set(generator.choice(6, 2, replace=False).tolist()) for _ in range(200)]

    held = hold_out_images(pictures_of(shown), 6, 0.9, 0)

    counts = np.bincount([label for place in held for label in shown[place]], minlength=6)
    assert counts.min() >= 5
    assert len(held) <= 30
