"""The margin of the rejection threshold for users whose wording differs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from chalicelib.engines.interface import TextFitOptions, TextTrainingSet
from chalicelib.engines.text import fit as training
from chalicelib.engines.text import shift
from chalicelib.engines.text.fit import fit
from chalicelib.engines.text.head.domain_score import scores
from chalicelib.engines.text.plan import make_plan
from tests.engines.text.clusters import a_training_set, with_background

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Doubles

REJECTS = TextFitOptions(out_of_domain_rate=0.05)


def _threshold(examples: TextTrainingSet) -> float:
    rejector = fit(examples, REJECTS, [].append).parameters.rejector
    assert rejector is not None
    return rejector.threshold


def _scattered() -> TextTrainingSet:
    """Return texts of each label in five distant groups."""
    examples = a_training_set([25] * 6, dims=(24,), spread=0.1)
    generator = np.random.default_rng(1)
    moves = generator.standard_normal((6, 5, 24))
    groups = np.arange(len(examples.label_indexes)) % 5
    block = examples.blocks["encoder0"] + 0.25 * moves[examples.label_indexes, groups]
    block /= np.linalg.norm(block, axis=1, keepdims=True)
    return with_background(replace(examples, blocks={"encoder0": block.astype(np.float32)}))


def test_groups_of_wordings_lower_the_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    """If groups look foreign to models trained without them, the threshold is lowered."""
    examples = _scattered()

    cautious = _threshold(examples)
    monkeypatch.setattr(training, "add_margin", lambda plan, chosen, rejection, rate: rejection)

    assert cautious < _threshold(examples)


def test_the_probability_of_the_domain_is_fitted_to_withheld_wordings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The probability knows each text as it is, and texts of withheld wordings, which score lower.

    With fewer texts, it would be lower for all of them.
    """
    given = []

    def fit_trust(inside: Doubles, background: Doubles) -> tuple[float, ...]:
        given.append(inside)
        return 0.0, 0.0, 0.0, 0.0

    monkeypatch.setattr(shift, "fit_trust", fit_trust)
    examples = _scattered()

    model = fit(examples, REJECTS, [].append)

    rejector = model.parameters.rejector
    assert rejector is not None
    assert rejector.samples is not None
    assert len(given[0]) > len(examples.label_indexes)
    assert scores(given[0]).mean() < scores(rejector.samples[0]).mean()
    assert (model.certainty(examples.blocks) == 0.5).all()


@pytest.mark.parametrize(("texts_of_label", "lost"), [(4, 0.0), (11, 0.08), (20, 0.2), (40, 0.2)])
def test_few_texts_of_a_label_have_a_small_margin(texts_of_label: int, lost: float) -> None:
    """Clusters of one text each are no wordings, so they do not lower the threshold."""
    examples = with_background(a_training_set([texts_of_label] * 6, dims=(8,), spread=0.1))

    plan = make_plan(examples, examples.label_indexes, REJECTS)

    assert shift._most_lost(plan) == pytest.approx(lost)


def test_the_margin_costs_little_of_what_is_rejected_near_the_domain() -> None:
    """Withheld labels are mostly rejected, and more often than withheld wordings."""
    report = fit(_scattered(), REJECTS, [].append).report
    assert report is not None
    assert report.rejection is not None
    labels, clusters = report.rejection.withheld_labels, report.rejection.withheld_clusters
    assert labels is not None
    assert clusters is not None
    assert labels.value > 0.5 > clusters.value


@pytest.mark.parametrize("limit", ["FEW_TEXTS", "_FEWEST_LABELS"])
def test_large_sets_and_few_labels_have_no_margin(
    monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """Large sets, and few labels, get no margin."""
    monkeypatch.setattr(shift, limit, {"FEW_TEXTS": 149, "_FEWEST_LABELS": 7}[limit])

    report = fit(_scattered(), REJECTS, [].append).report

    assert report is not None
    assert report.rejection is not None
    assert report.rejection.withheld_clusters is None


def test_clusters_are_groups_of_similar_texts() -> None:
    """Five clusters of four directions are found, whatever their order."""
    centres = np.eye(8)[:5]
    groups = np.random.default_rng(0).permutation(np.repeat(np.arange(5), 4))
    noise = np.random.default_rng(1).normal(size=(20, 8)) / 20
    units = centres[groups] + noise

    found = shift._cluster(units)

    assert len(set(zip(groups.tolist(), found.tolist(), strict=True))) == 5
    assert shift._cluster(units[:1]).tolist() == [0]
