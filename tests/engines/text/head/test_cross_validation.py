"""The choice of penalty and temperature."""

from __future__ import annotations

import numpy as np
import pytest

from chalicelib.engines.arithmetic import GridArithmetic
from chalicelib.engines.text.head import cross_validation, penalty
from chalicelib.engines.text.head.cross_validation import cross_validate
from chalicelib.engines.text.head.layout import Layout, make_row_ranges


def _layout(noise: float, held: int = 0) -> Layout:
    """Sixty examples of two labels in three folds; one feature is informative, nine are noise.

    The last ones of the first fold are of the held-out part of the split.
    """
    generator = np.random.default_rng(0)
    labels = np.tile([0, 1], 30)
    features = noise * generator.standard_normal((60, 10))
    features[:, 0] += labels - 0.5
    folds = np.repeat([0, 1, 2], 20)
    is_held = (np.arange(60) >= 20 - held) & (np.arange(60) < 20)
    ranges = make_row_ranges(is_held, folds, 0)
    return Layout(GridArithmetic().features(features), labels, np.arange(60), ranges)


@pytest.mark.parametrize(
    ("noise", "penalty_inverse"), [(0.5, 1.0), (0.26, 10.0), (0.1, 3.0)], ids=str
)
def test_the_penalty_follows_the_data(noise: float, penalty_inverse: float) -> None:
    """Noisy data gets the strongest penalty, cleaner data a weaker one.

    Where the first leaves nothing to gain, no other is tried.
    """
    result = cross_validate(_layout(noise), 2, (0, 1, 2), GridArithmetic(), [].append)

    assert result.penalty_inverse == penalty_inverse


def test_of_equal_penalties_the_weakest_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the loss hardly rises, the search continues to the weakest penalty."""
    monkeypatch.setattr(penalty, "EQUAL_LOSS", 1e3)

    result = cross_validate(_layout(0.5), 2, (0, 1, 2), GridArithmetic(), [].append)

    assert result.penalty_inverse == penalty.RISING_PENALTY_INVERSES[-1]


def test_every_example_is_held_out_once() -> None:
    """Each example gets a held-out logit once, and progress rises to one."""
    shares: list[float] = []

    result = cross_validate(_layout(0.3), 2, (0, 1, 2), GridArithmetic(), shares.append)

    assert sorted(result.examples.tolist()) == list(range(60))
    assert result.logits.shape == (60, 2)
    assert result.truth.tolist() == (result.examples % 2).tolist()
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_one_hold_out_judges_its_fold_alone() -> None:
    """With one fold only its examples get logits."""
    result = cross_validate(_layout(0.3), 2, (0,), GridArithmetic(), [].append)

    assert result.examples.tolist() == list(range(20))


def test_held_out_logits_know_nothing_of_their_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flipping all labels of a fold does not change its logits."""
    monkeypatch.setattr(penalty, "RISING_PENALTY_INVERSES", (10.0,))
    straight, turned = _layout(0.3), _layout(0.3)
    turned.labels[:20] = 1 - turned.labels[:20]

    first = cross_validate(straight, 2, (0,), GridArithmetic(), [].append)
    second = cross_validate(turned, 2, (0,), GridArithmetic(), [].append)

    np.testing.assert_array_equal(first.logits, second.logits)


def test_the_held_out_part_has_no_say_in_the_metrics() -> None:
    """Labels of the held-out part affect the served temperature but not the metrics."""
    straight, turned = _layout(0.3, held=8), _layout(0.3, held=8)
    turned.labels[12:20] = 1 - turned.labels[12:20]

    first = cross_validate(straight, 2, (0,), GridArithmetic(), [].append)
    second = cross_validate(turned, 2, (0,), GridArithmetic(), [].append)

    assert first.is_trained.tolist() == [True] * 12 + [False] * 8
    assert first.penalty_inverse == second.penalty_inverse
    assert first.metric_temperature == second.metric_temperature
    assert first.temperature < second.temperature


def test_one_fold_chooses_for_all_of_a_large_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a large set one fold chooses the penalty; all examples still get logits."""
    monkeypatch.setattr(cross_validation, "CHOOSING_EXAMPLES", 50)
    shares: list[float] = []

    result = cross_validate(_layout(0.3), 2, (0, 1, 2), GridArithmetic(), shares.append)

    alone = cross_validate(_layout(0.3), 2, (0,), GridArithmetic(), [].append)
    assert result.penalty_inverse == alone.penalty_inverse
    np.testing.assert_array_equal(result.logits[:20], alone.logits)
    assert sorted(result.examples.tolist()) == list(range(60))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_nothing_to_hold_out_gives_defaults() -> None:
    """Without folds the penalty is a default and the temperature one."""
    result = cross_validate(_layout(0.3), 2, (7,), GridArithmetic(), [].append)

    assert (result.penalty_inverse, result.temperature) == (10.0, 1.0)
    assert result.logits.shape == (0, 2)
