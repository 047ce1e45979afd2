"""Adjusts a trained model to texts of users, without changing the model's weights.

The softmax temperature and the label frequencies are fitted to the labelled texts. The threshold
below which texts are rejected is fitted to the domain scores of all texts. The training has stored
four distributions of domain scores, two of them of in-domain texts. A mixture of the four is fitted
to the scores of the users' texts. The mixture and the labelled texts show the scores of in-domain
texts. The threshold is chosen so that it rejects the requested fraction of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chalicelib.engines.arithmetic import exact_exp, exact_log
from chalicelib.engines.calibration import softmax
from chalicelib.engines.metrics import wilson_interval
from chalicelib.engines.text.classifier import TrainedText
from chalicelib.engines.text.head.domain_score import scores as domain_scores
from chalicelib.engines.text.head.out_of_domain import round_threshold

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles, Ints, Singles
    from chalicelib.engines.interface import Blocks, Interval
    from chalicelib.engines.text.head.rejector import Rejector

# Label index of a text without a label; the number of labels stands for `out-of-domain`.
UNLABELLED = -1
_TEMPERATURES = tuple(float(2.0 ** (step / 8.0)) for step in range(-16, 17))
# Weight of the trained temperature and label frequencies, as a number of texts. Chosen on draws of
# BANKING77, CLINC150, SST-3 and SIB-200 whose users phrase texts differently from the examples.
_TEMPERATURE_TEXTS, _FREQUENCY_TEXTS = 5.0, 10.0
_TRUSTS = tuple(step / 4.0 for step in range(-20, 21))
_SMALLEST = 1e-9
_ROUNDS = 200
# Number of texts that each distribution of the mixture counts in advance, so that no weight becomes
# 0 by chance.
_PRIOR_TEXTS = 1.0
# Factor by which the standard deviation of the distance from the boundary is increased, so that the
# distance counts less. The boundary hardly separates questions that are similar to in-domain texts,
# but most out-of-domain texts of users are such questions. Chosen on six draws of BANKING77 and
# CLINC150 with withheld labels and clusters.
_LINE_FACTOR = 3.0
# The samples were scored by models of fewer texts, so they predict too many rejections. A served
# model rejects only this fraction of the predicted texts. Measured on the same draws.
_FALL = 0.6
# Weight of the mixture in the threshold, as a number of labelled in-domain texts. Chosen on draws
# of CLINC150 and BANKING77 with new wordings or misspelt words.
_MIXTURE_TEXTS = 50.0
_IN_DOMAIN = np.array([True, True, False, False])


@dataclass(frozen=True, slots=True, eq=False)
class Adjustment:
    """How many texts `adjust` used, and what it changed in the model, for the model card."""

    labelled: int
    """Number of texts with a label of the model."""
    out_of_domain: int
    """Number of texts marked as out of the domain."""
    unlabelled: int
    temperature_factor: float
    """New temperature divided by the former one; 1 if there are no labelled texts."""
    rejected_before: Interval | None = None
    """Fraction of in-domain texts rejected by the old threshold; None if it was not changed."""
    rejected_after: Interval | None = None
    """Fraction of in-domain texts rejected by the new threshold; None if it was not changed."""


class _Mixture(NamedTuple):
    weights: Doubles
    """Weight of each distribution in the mixture, float64, shape (4,)."""
    in_domain: Doubles
    """Probability that each text is in the domain, float64, shape (texts,)."""


def adjust(
    trained: TrainedText, blocks: Blocks, truth: Ints, rate: float | None, sent: int | None = None
) -> tuple[TrainedText, Adjustment]:
    """Adjust a trained model to users' texts; return the new model and the changes.

    Args:
        trained: the model to adjust.
        blocks: for each encoder, the vectors of the texts, float32, shape (texts, dims).
        truth: index of each text's label, int, shape (texts,). -1 means that the text has no label;
            an index equal to the number of labels means that it is out of the domain.
        rate: fraction of in-domain texts to reject; None keeps the threshold.
        sent: the first `sent` texts are a random sample of users' texts; None if all texts are a
            random sample.
    """
    labels = len(trained.labels)
    is_labelled = (truth >= 0) & (truth < labels)
    factor, shift, trust = 1.0, np.zeros(labels), 0.0
    if is_labelled.any():
        some = {name: block[is_labelled] for name, block in blocks.items()}
        counted = int(is_labelled[:sent].sum())
        factor, shift = _fit_labelled(trained.logits(some), truth[is_labelled], counted)
        trust = _fit_trust(trained.certainty(blocks), is_labelled, truth == labels)
    adjusted = _rescaled(trained, factor, shift, trust)
    rejector, before, after = adjusted.parameters.rejector, None, None
    if rate is not None and rejector is not None and rejector.samples is not None:
        is_rejected = trained.rejects(blocks)
        rejector, samples = _soften_line(rejector, rejector.samples)
        adjusted = TrainedText(replace(adjusted.parameters, rejector=rejector))
        scores = np.asarray(adjusted.domain_scores(blocks), np.float64)
        mixture = _fit_mixture(samples, scores, truth, labels)
        # Feedback has the misclassified texts, so it does not show how many texts are rejected.
        labelled = scores[:sent][is_labelled[:sent]]
        threshold = _threshold(samples, mixture.weights, labelled, rate)
        is_known = truth != UNLABELLED
        before = _rejected(is_rejected, mixture.in_domain, is_known)
        after = _rejected(scores < threshold, mixture.in_domain, is_known)
        rejector = replace(rejector, threshold=threshold)
        adjusted = TrainedText(replace(adjusted.parameters, rejector=rejector))
    out = int((truth == labels).sum())
    found = Adjustment(
        labelled=int(is_labelled.sum()),
        out_of_domain=out,
        unlabelled=len(truth) - out - int(is_labelled.sum()),
        temperature_factor=factor,
        rejected_before=before,
        rejected_after=after,
    )
    return adjusted, found


def nearest_rows(trained: TrainedText, blocks: Blocks, count: int) -> list[int]:
    """Return the indexes of `count` texts with domain scores nearest to the rejection threshold."""
    rejector = trained.parameters.rejector
    threshold = trained.parameters.threshold if rejector is None else rejector.threshold
    gaps = np.abs(np.asarray(trained.domain_scores(blocks), np.float64) - threshold)
    return [int(row) for row in np.argsort(gaps, kind="stable")[:count]]


def _fit_labelled(tempered: Singles, truth: Ints, counted: int) -> tuple[float, Doubles]:
    """Fit the temperature and the label frequencies to labelled texts.

    Args:
        tempered: logits divided by the temperature, float32, shape (texts, labels).
        truth: label index of each text, int, shape (texts,).
        counted: the label frequencies are estimated from the first `counted` texts only.

    Returns:
        The factor by which to multiply the temperature, and an offset for each label's logits.
    """
    logits = tempered.astype(np.float64)

    def loss(factor: float, shift: Doubles) -> float:
        chosen = softmax(logits / factor + shift)[np.arange(len(truth)), truth]
        belief = _TEMPERATURE_TEXTS * float(np.log(factor)) ** 2
        return float(belief - np.add.reduce(exact_log(np.maximum(chosen, _SMALLEST))))

    def best_factor(shift: Doubles) -> float:
        return min(_TEMPERATURES, key=lambda factor: loss(factor, shift))

    factor = best_factor(np.zeros(logits.shape[1]))
    if not counted:
        return factor, np.zeros(logits.shape[1])
    # Only these texts are a random sample. Feedback has the misclassified texts, so it does not
    # show frequencies.
    expected = softmax(logits[:counted] / factor).mean(axis=0)
    counts = np.bincount(truth[:counted], minlength=len(expected))
    frequencies = (counts + _FREQUENCY_TEXTS * expected) / (counted + _FREQUENCY_TEXTS)
    shift = np.asarray(exact_log(frequencies / expected), np.float64)
    return best_factor(shift), shift


def _fit_trust(certainty: Singles, is_inside: Bools, is_outside: Bools) -> float:
    """Fit a correction of the model's probability that a text is in the domain.

    `certainty` is this probability. `is_inside` and `is_outside` mark the texts for which it is
    known whether they are in the domain. The result is an offset for the log-odds.
    """
    shares = np.clip(certainty.astype(np.float64), _SMALLEST, 1.0 - _SMALLEST)
    odds = exact_log(shares) - exact_log(1.0 - shares)

    def loss(added: float) -> float:
        inside = 1.0 / (1.0 + np.exp(-(odds + added)))
        chosen = np.concatenate([inside[is_inside], 1.0 - inside[is_outside]])
        belief = _TEMPERATURE_TEXTS * (added / 4.0) ** 2
        return float(belief - float(np.log(np.maximum(chosen, _SMALLEST)).sum()))

    return min(_TRUSTS, key=loss)


def _rescaled(trained: TrainedText, factor: float, shift: Doubles, trust: float) -> TrainedText:
    parameters, rejector = trained.parameters, trained.parameters.rejector
    temperature = parameters.temperature * factor
    if rejector is not None:
        scale = rejector.scale
        weights = (*scale.trust[:-1], scale.trust[-1] + trust)
        # The support, which is the first signal, does not change with the temperature.
        scale = replace(scale, heat=scale.heat * factor, trust=weights)
        rejector = replace(rejector, scale=scale)
    biases = (parameters.biases + temperature * shift).astype(np.float32)
    changed = replace(parameters, temperature=temperature, biases=biases, rejector=rejector)
    return TrainedText(changed)


def _soften_line(rejector: Rejector, samples: Singles) -> tuple[Rejector, Doubles]:
    """Reduce the influence of one signal, the distance from the boundary, on the domain score.

    Returns:
        The new rejector, and the new domain scores of `samples`, float64, shape (4, n).
    """
    scale = rejector.scale
    deviations = (*scale.deviations[:2], scale.deviations[2] * _LINE_FACTOR)
    # The probability that a text is in the domain stays as it is.
    trust = (*scale.trust[:2], scale.trust[2] * _LINE_FACTOR, scale.trust[3])
    scale = replace(scale, deviations=deviations, trust=trust)
    signals = samples / np.array([1.0, 1.0, _LINE_FACTOR])
    found = np.stack([domain_scores(kind) for kind in signals])
    return replace(rejector, scale=scale, samples=signals.astype(np.float32)), found


def _fit_mixture(samples: Doubles, scores: Doubles, truth: Ints, labels: int) -> _Mixture:
    """Fit the weights of four score distributions in a mixture, by expectation maximisation.

    Args:
        samples: domain scores of n sample texts from each distribution, float64, shape (4, n).
        scores: domain scores of the texts, float64, shape (texts,).
        truth: index of each text's label, int, shape (texts,). -1 means that the text has no label;
            an index equal to `labels` means that it is out of the domain.
        labels: number of labels.
    """
    densities = np.stack([_density(row, scores) for row in samples], axis=1)
    # A text whose kind is known belongs to a distribution of its kind only.
    is_inside, is_outside = (truth >= 0) & (truth < labels), truth == labels
    densities[np.ix_(is_inside, ~_IN_DOMAIN)] = 0.0
    densities[np.ix_(is_outside, _IN_DOMAIN)] = 0.0
    weights = np.full(len(samples), 1.0 / len(samples))
    for _ in range(_ROUNDS):
        parts = weights * densities
        parts /= np.add.reduce(parts, axis=1)[:, None]
        weights = np.add.reduce(parts, axis=0) + _PRIOR_TEXTS
        weights /= np.add.reduce(weights)
    return _Mixture(weights, np.add.reduce(parts[:, _IN_DOMAIN], axis=1))


def _density(sample: Doubles, scores: Doubles) -> Doubles:
    """Return the kernel density of `sample` at each of `scores` (Silverman's bandwidth)."""
    low, high = np.quantile(sample, [0.25, 0.75])
    spread = min(float(sample.std()), float(high - low) / 1.34) or float(sample.std())
    width = max(0.9 * spread * len(sample) ** -0.2, 1e-3)
    gaps = (scores[:, None] - sample) / width
    kernels = np.asarray(exact_exp(-0.5 * np.minimum(gaps * gaps, 100.0)), np.float64)
    # Never 0, so that a single distant text does not decide the result.
    return np.asarray(np.add.reduce(kernels, axis=1) / (len(sample) * width) + 1e-6)


def _threshold(samples: Doubles, weights: Doubles, labelled: Doubles, rate: float) -> float:
    """Return the domain score below which the fraction `rate` of the in-domain texts lies.

    Args:
        samples: domain scores of n sample texts from each distribution, float64, shape (4, n).
        weights: weight of each distribution in the mixture, float64, shape (4,).
        labelled: domain scores of users' in-domain texts, float64, shape (m,).
        rate: the fraction to reject.
    """
    parts = np.repeat(weights[_IN_DOMAIN], samples.shape[1])
    parts *= _FALL * _MIXTURE_TEXTS / np.add.reduce(parts)
    values = np.concatenate([samples[_IN_DOMAIN].ravel(), labelled])
    parts = np.concatenate([parts, np.ones(len(labelled))])
    order = np.argsort(values, kind="stable")
    below = np.cumsum(parts[order]) / (_MIXTURE_TEXTS + len(labelled))
    place = min(int(np.searchsorted(below, rate)), len(values) - 1)
    return round_threshold(float(values[order][place]))


def _rejected(is_below: Bools, in_domain: Doubles, is_known: Bools) -> Interval:
    """Estimate the fraction of in-domain texts that are rejected, with its 95 % interval.

    `is_below` marks the rejected texts. `in_domain` is the probability that each text is in the
    domain. `is_known` marks the texts that users labelled or marked as out of the domain.
    """
    # The samples were scored by models of fewer texts (see `_FALL`), so the mixture also counts too
    # many texts with low scores as in-domain.
    parts = in_domain * np.where(is_known, 1.0, _FALL)
    hits, total = float(parts[is_below].sum()), float(in_domain.sum())
    return wilson_interval(round(hits), round(total))
