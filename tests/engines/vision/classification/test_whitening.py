"""Whitening makes the within-label variance equal in all directions."""

from __future__ import annotations

import numpy as np

from chalicelib.engines.vision.classification.whitening import fit_whitening
from chalicelib.engines.vision.similarity.vectors import unit_roots


def _rows() -> tuple[np.ndarray, np.ndarray]:
    """Return two labels that differ in a small direction and vary in a large one."""
    generator = np.random.default_rng(4)
    labels = np.arange(400) % 2
    rows = np.full((400, 12), 4.0) + generator.normal(size=(400, 12)) * 0.05
    rows[:, 0] += generator.normal(size=400) * 1.2
    rows[:, 1] += np.where(labels, 0.3, -0.3)
    return rows.astype(np.float16), labels


def test_a_loud_direction_no_longer_hides_a_telling_one() -> None:
    """After whitening labels are further apart relative to their own variance."""
    rows, labels = _rows()

    def separation(values: np.ndarray) -> float:
        gap = values[labels == 1].mean(axis=0) - values[labels == 0].mean(axis=0)
        within = np.concatenate(
            [values[labels == own] - values[labels == own].mean(axis=0) for own in (0, 1)]
        )
        return float(np.linalg.norm(gap) / np.sqrt((within**2).sum(axis=1).mean()))

    whitened = fit_whitening(rows, labels).apply(rows)

    np.testing.assert_allclose(1.0, np.linalg.norm(whitened, axis=1))
    assert separation(whitened) > 2 * separation(unit_roots(rows))


def test_one_picture_a_label_only_centres() -> None:
    """With one image per label features are only centred."""
    rows, _ = _rows()

    whitening = fit_whitening(rows[:3], np.arange(3))

    matrix = whitening.matrix.astype(float)
    np.testing.assert_array_equal(np.diag(np.diag(matrix)), matrix)
    assert len(np.unique(np.diag(matrix))) == 1


def test_equal_pictures_are_no_division_by_zero() -> None:
    """Equal images, or images without activation, give finite rows."""
    copies = np.ones((6, 12), np.float16)

    for rows in (copies, copies * 0):
        assert np.isfinite(fit_whitening(rows, np.arange(6) % 2).apply(rows)).all()
