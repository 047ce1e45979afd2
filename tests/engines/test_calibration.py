"""Temperature scaling and energies."""

from __future__ import annotations

import math

import numpy as np
import pytest

from chalicelib.engines.calibration import energies, fit_temperature, probabilities, tempered_loss


def _honest(count: int, labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Return logits whose softmax is the true distribution of the drawn labels."""
    generator = np.random.default_rng(0)
    logits = 2 * generator.standard_normal((count, labels))
    shares = probabilities(logits, 1.0).astype(float).cumsum(axis=1)
    return logits, (generator.random((count, 1)) > shares[:, :-1]).sum(axis=1)


@pytest.mark.parametrize("factor", [0.2, 1.0, 4.0])
def test_temperature_undoes_a_factor(factor: float) -> None:
    """Logits multiplied by a factor get that factor as temperature."""
    logits, truth = _honest(20_000, 4)

    assert fit_temperature(factor * logits, truth) == pytest.approx(factor, rel=0.05)


def test_temperature_lowers_the_log_loss() -> None:
    """The fitted temperature has the lowest loss, and 1 has a higher one."""
    logits, truth = _honest(2_000, 4)
    logits *= 3

    best = fit_temperature(logits, truth)

    losses = [tempered_loss(logits, truth, factor * best) for factor in (0.95, 1.0, 1.05)]
    assert losses[1] == min(losses)
    assert losses[1] < tempered_loss(logits, truth, 1.0) - 0.1


@pytest.mark.parametrize(
    ("sign", "temperature"), [(1.0, 0.05), (-1.0, 20.0)], ids=["all-right", "all-wrong"]
)
def test_temperature_is_bounded(sign: float, temperature: float) -> None:
    """Perfect and random logits give the bounds instead of 0 or infinity."""
    logits = sign * np.eye(2)[[0, 1, 0, 1]]

    found = fit_temperature(logits, np.array([0, 1, 0, 1]))

    assert found == pytest.approx(temperature, rel=0.05)


@pytest.mark.parametrize("count", [10, 100])
def test_smoothing_keeps_right_answers_from_becoming_certain(count: int) -> None:
    """With smoothing, right answers on a small set get a probability below one."""
    truth = np.arange(count) % 2
    logits = np.eye(2)[truth] * 5.0
    smoothing = 1 / (count + 2)

    found = probabilities(logits, fit_temperature(logits, truth, smoothing))

    assert found.max() == pytest.approx(1 - smoothing / 2, abs=smoothing / 10)


def test_temperature_without_examples_is_one() -> None:
    """Without held-out examples the temperature is 1."""
    assert fit_temperature(np.empty((0, 3)), np.empty(0, int)) == 1.0
    assert tempered_loss(np.empty((0, 3)), np.empty(0, int), 1.0) == 0.0


def test_energy_and_probabilities_by_hand() -> None:
    """Logits ln 1 and ln 3 give energy ln 4 and probabilities 1/4 and 3/4."""
    logits = np.array([[0.0, math.log(3)]])

    assert energies(logits, 1.0)[0] == pytest.approx(math.log(4))
    assert probabilities(logits, 1.0)[0] == pytest.approx([0.25, 0.75])
    assert energies(2 * logits, 2.0)[0] == pytest.approx(math.log(4))


def test_loss_by_hand() -> None:
    """A probability of 3/4 for the true label has a loss of ln 4/3."""
    logits = np.array([[0.0, math.log(3)]])

    assert tempered_loss(logits, np.array([1]), 1.0) == pytest.approx(math.log(4 / 3))
