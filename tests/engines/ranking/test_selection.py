"""Selecting what to label next."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from chalicelib.engines.ranking.selection import NEAR, Pick, choose, kernel
from chalicelib.engines.ranking.vectors import unit


def _chosen(
    vectors: np.ndarray, uncertainties: np.ndarray, count: int, likeness: np.ndarray | None = None
) -> list[Pick]:
    uncertainties = uncertainties.astype(np.float32)
    likeness = np.zeros(len(uncertainties), np.float32) if likeness is None else likeness
    return choose(vectors, uncertainties, uncertainties, likeness.astype(np.float32), count)


def _circle(*degrees: float) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_the_most_uncertain_of_isolated_samples_comes_first() -> None:
    """Isolated samples are ranked by uncertainty; scores are fractions of the total."""
    picks = _chosen(_circle(0, 90, 180, 270), np.array([0.1, 0.4, 0.2, 0.3]), 4)
    assert [pick.at for pick in picks] == [1, 3, 2, 0]
    assert [pick.score for pick in picks] == pytest.approx([0.4, 0.3, 0.2, 0.1], abs=1e-3)


def test_one_that_stands_for_many_goes_before_a_lonely_one() -> None:
    """Three similar uncertain samples outweigh a single more uncertain one."""
    picks = _chosen(_circle(0, 20, 40, 180), np.array([0.5, 0.5, 0.5, 0.9]), 2)
    assert [pick.at for pick in picks] == [1, 3]
    assert picks[0].reason == "representative"
    assert picks[1].reason == "uncertain"
    reach = kernel(np.cos(np.radians(np.array([20.0], np.float32))))[0]
    assert picks[0].score == pytest.approx((0.5 + reach) / 2.4, rel=1e-3)


def test_near_duplicates_are_chosen_once() -> None:
    """Of near-duplicates one is selected, even if fewer than requested remain."""
    picks = _chosen(_circle(0, 1, 2, 120, 121), np.full(5, 0.5), 5)
    assert len(picks) == 2
    vectors = _circle(0, 1, 2, 120, 121)[[pick.at for pick in picks]]
    assert vectors[0] @ vectors[1] < NEAR


def test_what_is_unlike_says_so() -> None:
    """A sample far from the training examples has the reason `unlike`."""
    likeness = np.array([5.0, 5.0, -5.0, 5.0])
    picks = _chosen(_circle(0, 90, 180, 270), np.array([0.4, 0.5, 0.3, 0.2]), 4, likeness)
    assert {pick.at: pick.reason for pick in picks}[2] == "unlike"


def test_the_choice_is_that_of_comparing_all() -> None:
    """The bounded search selects the sample with the greatest gain in every turn."""
    dice = np.random.default_rng(5)
    vectors = unit(dice.normal(size=(300, 6)).astype(np.float32))
    uncertainties = dice.uniform(0.01, 1, 300).astype(np.float32)
    picks = [pick.at for pick in _chosen(vectors, uncertainties, 25)]
    settled, free = np.zeros(300), np.ones(300, bool)
    reach = kernel(vectors @ vectors.T)
    for pick in picks:
        gains = np.where(free, np.maximum(reach - settled, 0) @ uncertainties, -1)
        assert gains[pick] == pytest.approx(gains.max(), rel=1e-4)
        settled = np.maximum(settled, reach[pick])
        free &= vectors @ vectors[pick] < NEAR
    scores = [pick.score for pick in _chosen(vectors, uncertainties, 25)]
    assert all(one >= two - 1e-6 for one, two in itertools.pairwise(scores))


def test_the_same_samples_give_the_same_ranking() -> None:
    """The selection is deterministic."""
    dice = np.random.default_rng(6)
    vectors, uncertainties = dice.normal(size=(200, 16)), dice.uniform(size=200)
    assert _chosen(vectors, uncertainties, 30) == _chosen(vectors, uncertainties, 30)


def test_a_lost_lease_stops_the_choice() -> None:
    """When the lease is lost, the selection stops."""

    def stop() -> None:
        raise TimeoutError

    ones = np.ones(3, np.float32)
    with pytest.raises(TimeoutError):
        choose(_circle(0, 90, 180), ones, ones, ones, 2, stop)
