"""Training from vectors to model: records, determinism, and difficult data."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from chalicelib.engines import metrics
from chalicelib.engines.interface import TextEpoch, TextFitOptions, TextTrainingSet
from chalicelib.engines.text import fit as training
from chalicelib.engines.text import plan
from chalicelib.engines.text.classifier import TrainedText, dump, load
from chalicelib.engines.text.head import neighbours
from chalicelib.engines.text.report import training_report
from chalicelib.errors import TrainingFailed
from tests.engines.text.clusters import a_training_set, with_background

ROOT = Path(__file__).parents[3]


def _fit(
    examples: TextTrainingSet, epochs: list[TextEpoch] | None = None, **options: object
) -> TrainedText:
    records: list[TextEpoch] = [] if epochs is None else epochs
    return training.fit(examples, TextFitOptions(**options), records.append)


def _accuracy(model: TrainedText, examples: TextTrainingSet) -> float:
    answers = model.predict(examples.blocks).argmax(axis=1)
    return float((answers == examples.label_indexes).mean())


def _part(examples: TextTrainingSet, rows: Sequence[int] | slice) -> TextTrainingSet:
    return dataclasses.replace(
        examples,
        blocks={name: block[rows] for name, block in examples.blocks.items()},
        label_indexes=examples.label_indexes[rows],
        digests=np.array(examples.digests, object)[rows].tolist(),
    )


def test_a_trained_model_answers_unseen_texts() -> None:
    """Separable clusters are predicted, with probabilities adding up to one and right metrics."""
    examples = a_training_set([60] * 5)
    seen, unseen = _part(examples, slice(0, 200)), _part(examples, slice(200, 300))

    model = _fit(seen)

    assert _accuracy(model, unseen) > 0.95
    np.testing.assert_allclose(model.predict(unseen.blocks).sum(axis=1), 1, rtol=1e-5)
    assert model.report is not None
    interval = model.report.accuracy_interval
    assert interval.low <= model.report.metrics.test_accuracy <= interval.high
    assert model.report.training_examples + model.report.test_examples == 200
    assert abs(model.report.test_examples - 40) <= 5


def test_epochs_are_reported_as_they_happen() -> None:
    """Epochs are numbered from 1, the loss falls, and the final record is the model's metrics."""
    epochs: list[TextEpoch] = []

    model = _fit(a_training_set([40] * 4, spread=1.8), epochs)

    assert [record.epoch for record in epochs] == list(range(1, len(epochs) + 1))
    assert len(epochs) > 2
    assert epochs[-1].metrics.training_loss < epochs[0].metrics.training_loss
    assert model.report is not None
    assert model.report.metrics == epochs[-1].metrics
    assert model.report.epochs == len(epochs)
    assert model.report.early_stopping
    assert len(epochs[0].metrics.confusion_matrix) == 4


def test_max_epochs_is_kept() -> None:
    """`max_epochs` limits the training."""
    epochs: list[TextEpoch] = []

    model = _fit(a_training_set([40] * 4, spread=1.0), epochs, max_epochs=2)

    assert len(epochs) == 2
    assert model.report is not None
    assert (model.report.epochs, model.report.early_stopping) == (2, False)


def test_progress_rises_to_one() -> None:
    """Progress rises to one."""
    shares: list[float] = []

    training.fit(a_training_set([10] * 3), TextFitOptions(), [].append, shares.append)

    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_the_test_part_is_unseen() -> None:
    """Random training labels do not raise the test accuracy above chance."""
    examples = a_training_set([100] * 4)
    labels = np.random.default_rng(1).integers(0, 4, 400)

    model = _fit(dataclasses.replace(examples, label_indexes=labels))

    assert model.report is not None
    assert model.report.metrics.test_accuracy < 0.45
    assert model.report.accuracy_interval.low < 0.25 < model.report.accuracy_interval.high


def test_curve_and_thresholds_are_of_the_held_out_part() -> None:
    """Curve and thresholds are computed on the held-out part."""
    examples = a_training_set([100] * 4)
    labels = np.random.default_rng(1).integers(0, 4, 400)

    model = _fit(dataclasses.replace(examples, label_indexes=labels))
    good = _fit(examples)

    assert model.report is not None
    assert good.report is not None
    assert max(model.report.curve.f1) < 0.5
    assert max(good.report.curve.f1) > 0.9
    # Recall is counted in held-out texts: every point is a whole number of the eighty.
    hits = np.array(good.report.curve.recall) * good.report.test_examples
    np.testing.assert_allclose(hits, hits.round(), atol=1e-3)
    assert set(good.report.thresholds) == set(examples.label_names)
    assert min(good.report.thresholds.values()) > 0.25


def test_a_dataset_of_only_contradictions_is_uncertain() -> None:
    """Every text under both labels gives even probabilities, chance accuracy, and all pairs."""
    examples = a_training_set([30, 30], spread=0.5)
    rows = np.tile(np.arange(60), 2)
    doubled = dataclasses.replace(_part(examples, rows), label_indexes=np.repeat([0, 1], 60))

    model = _fit(doubled, out_of_domain_rate=0.05)

    np.testing.assert_allclose(model.predict(examples.blocks), 0.5, atol=0.01)
    report = model.report
    assert report is not None
    assert report.metrics.test_accuracy == 0.5
    assert report.calibration_error < 0.2
    assert [one.similarity for one in report.conflicts[:60]] == [1.0] * 60
    assert report.duplicates_across_split == 0


def test_out_of_domain_texts_are_rejected_at_about_the_asked_rate() -> None:
    """In-domain texts are rejected at about the requested rate, foreign ones mostly."""
    examples = a_training_set([120] * 4, dims=(24,), spread=0.5)
    seen, unseen = _part(examples, slice(0, 320)), _part(examples, slice(320, 480))
    foreign = a_training_set([25] * 4, dims=(24,), spread=0.5, seed=9)

    model = _fit(seen, out_of_domain_rate=0.05)

    assert model.rejects(unseen.blocks).mean() < 0.15
    assert model.rejects(foreign.blocks).mean() > 0.6
    assert model.report is not None
    assert len(model.report.metrics.confusion_matrix) == 5
    assert len(model.report.metrics.labels) == 4


def test_few_texts_reject_when_the_background_is_known() -> None:
    """With 60 texts the requested rate holds, and most other texts are rejected."""
    examples = a_training_set([60] * 4, dims=(24,), spread=0.5)
    seen, unseen = _part(examples, slice(0, 60)), _part(examples, slice(60, 240))
    foreign = a_training_set([25] * 4, dims=(24,), spread=1.0, seed=9)

    alone = _fit(seen, out_of_domain_rate=0.05)
    with_background_texts = _fit(with_background(seen, 200), out_of_domain_rate=0.05)

    assert (
        alone.rejects(foreign.blocks).mean() < with_background_texts.rejects(foreign.blocks).mean()
    )
    assert with_background_texts.rejects(foreign.blocks).mean() > 0.85
    assert with_background_texts.rejects(unseen.blocks).mean() < 0.15
    assert with_background_texts.report is not None
    assert with_background_texts.report.rejection is not None
    assert with_background_texts.report.rejection.background is not None
    assert with_background_texts.report.rejection.background.value > 0.8


def test_what_is_kept_is_answered_with_caution() -> None:
    """Far from the training texts probabilities are flatter; the top label is the same."""
    examples = a_training_set([40] * 4, dims=(24,), spread=0.5)
    foreign = a_training_set([25] * 4, dims=(24,), spread=1.0, seed=9)

    plain = _fit(examples).predict(foreign.blocks)
    answers = _fit(with_background(examples, 200), out_of_domain_rate=0.05).answer(foreign.blocks)

    cautious, is_kept = answers.shares, ~answers.is_rejected
    np.testing.assert_allclose(cautious.sum(axis=1), 1.0, rtol=1e-5)
    np.testing.assert_array_equal(cautious[is_kept].argmax(axis=1), plain[is_kept].argmax(axis=1))
    assert (cautious.max(axis=1) >= 0.9).mean() < 0.5 * (plain.max(axis=1) >= 0.9).mean()


def test_background_texts_like_the_examples_are_no_background() -> None:
    """Background texts that resemble the examples are ignored."""
    examples = a_training_set([60] * 4, dims=(24,), spread=0.5)
    seen, unseen = _part(examples, slice(0, 120)), _part(examples, slice(120, 240))
    others = with_background(seen, 100).background
    assert others is not None
    same = {name: np.concatenate([unseen.blocks[name], others[name]]) for name in others}

    model = _fit(dataclasses.replace(seen, background=same), out_of_domain_rate=0.05)

    assert model.rejects(unseen.blocks).mean() < 0.2


def test_without_a_rate_nothing_is_rejected() -> None:
    """Without a rate nothing is rejected."""
    foreign = a_training_set([25] * 4, seed=9)

    assert not _fit(a_training_set([30] * 4)).rejects(foreign.blocks).any()


def test_out_of_fold_probabilities_are_calibrated() -> None:
    """On overlapping clusters out-of-fold probabilities equal the accuracy."""
    examples = a_training_set([400] * 4, spread=1.6)

    model = _fit(_part(examples, slice(0, 800)))
    unseen = _part(examples, slice(800, 1_600))

    error = metrics.calibration_error(model.predict(unseen.blocks), unseen.label_indexes)
    assert error < 0.06
    assert model.report is not None
    assert model.report.calibration_error < 0.06


def test_phrases_help_labels_with_few_examples() -> None:
    """With three examples per label, phrases raise the accuracy."""
    examples = a_training_set([43] * 12, spread=1.4, with_phrases=True)
    first = np.concatenate(
        [np.flatnonzero(examples.label_indexes == label)[:3] for label in range(12)]
    )
    rest = np.setdiff1d(np.arange(len(examples.digests)), first)
    few, unseen = _part(examples, first), _part(examples, rest)

    with_names = _accuracy(_fit(few), unseen)
    without = _accuracy(_fit(dataclasses.replace(few, label_blocks=None)), unseen)

    assert with_names > without + 0.02


def test_codes_are_no_phrases() -> None:
    """Labels that are numbers train as without phrases."""
    coded = dataclasses.replace(
        a_training_set([5] * 3, with_phrases=True), label_names=["1", "2", "3"]
    )
    assert coded.label_blocks is not None
    coded.label_blocks["encoder0"][:] = np.nan

    assert dump(_fit(coded)) == dump(_fit(dataclasses.replace(coded, label_blocks=None)))


def test_the_order_of_the_examples_does_not_matter() -> None:
    """The order of examples changes neither the split nor the answers."""
    examples = a_training_set([20] * 3)
    turned = _part(examples, slice(None, None, -1))

    first, second = _fit(examples), _fit(turned)

    assert first.report is not None
    assert second.report is not None
    assert first.report.metrics == second.report.metrics
    np.testing.assert_allclose(
        first.predict(examples.blocks), second.predict(examples.blocks), atol=2e-3
    )


SCRIPT = """
import hashlib
from chalicelib.engines.interface import TextFitOptions
from chalicelib.engines.text import plan, training
from chalicelib.engines.text.classifier import dump
from chalicelib.engines.text.head import neighbours
from tests.engines.text.clusters import a_training_set, with_background
examples = with_background(a_training_set([30] * 12, dims=(96, 64), spread=1.0))
neighbours.choose_weight = lambda loss_with, texts: 4.0
model = training.fit(examples, TextFitOptions(out_of_domain_rate=0.05), [].append)
print(hashlib.sha256(dump(model)).hexdigest())
"""


@cache
def _digest(threads: int = 1) -> str:
    """Train in a process with a number of BLAS threads; return the digest."""
    examples = with_background(a_training_set([30] * 12, dims=(96, 64), spread=1.0))
    with threadpool_limits(threads, "blas"), pytest.MonkeyPatch.context() as patch:
        # Whatever they bring: neighbours are part of what has to be equal.
        patch.setattr(neighbours, "choose_weight", lambda loss_with, texts: 4.0)
        model = _fit(examples, out_of_domain_rate=0.05)
    assert model.parameters.neighbours is not None
    return sha256(dump(model)).hexdigest()


def test_the_artifact_does_not_depend_on_threads() -> None:
    """The artifact does not depend on the number of threads."""
    assert _digest(1) == _digest(2)


@pytest.mark.parametrize("kernel", ["Haswell", "Sandybridge"])
def test_the_artifact_is_the_same_in_another_process(kernel: str) -> None:
    """The artifact does not depend on the process or on BLAS kernels."""
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_CORETYPE": kernel},
        text=True,
    )

    assert answer.stdout.strip() == _digest()


def test_the_seed_chooses_the_split() -> None:
    """Another seed holds other examples out."""
    examples = a_training_set([20] * 3, spread=1.5)

    first, second = _fit(examples), _fit(examples, seed=1)

    assert first.report is not None
    assert second.report is not None
    assert first.report.metrics != second.report.metrics


def test_equal_texts_with_one_vector_still_train() -> None:
    """Ten equal texts under two labels give even probabilities."""
    examples = a_training_set([5, 5])
    same = dataclasses.replace(
        examples,
        blocks={name: np.repeat(block[:1], 10, axis=0) for name, block in examples.blocks.items()},
        digests=[b"same"] * 10,
    )

    model = _fit(same, out_of_domain_rate=0.05)

    np.testing.assert_allclose(model.predict(same.blocks), 0.5, atol=0.01)
    assert model.report is not None
    assert model.report.test_examples == 2


def test_contradictory_labels_get_uncertain_answers() -> None:
    """A text under two labels gets neither with certainty."""
    examples = a_training_set([20, 20], spread=0.3)
    rows = np.concatenate([np.arange(40), np.arange(40)])
    doubled = dataclasses.replace(_part(examples, rows), label_indexes=np.repeat([0, 1], 40))

    shares = _fit(doubled).predict(examples.blocks)

    np.testing.assert_allclose(shares, 0.5, atol=0.1)


def test_a_rare_label_is_found_next_to_one_of_99_percent() -> None:
    """Class weights let five examples be found next to five hundred."""
    examples = a_training_set([505, 25], spread=0.5)
    rare = np.flatnonzero(examples.label_indexes == 1)
    common = np.flatnonzero(examples.label_indexes == 0)
    seen = _part(examples, np.concatenate([common[:495], rare[:5]]))

    model = _fit(seen)

    found = model.predict(_part(examples, rare[5:]).blocks).argmax(axis=1)
    assert (found == 1).mean() > 0.8
    assert _accuracy(model, seen) > 0.97


def test_duplicate_columns_do_no_harm() -> None:
    """Duplicated dimensions do not harm the training."""
    examples = a_training_set([30] * 3)
    doubled = dataclasses.replace(
        examples,
        blocks={name: np.hstack([block, block]) for name, block in examples.blocks.items()},
    )

    assert _accuracy(_fit(doubled), doubled) > 0.95


def test_a_label_without_examples_is_never_likely() -> None:
    """A label without examples stays in the model with a low probability."""
    examples = a_training_set([20, 0, 20])

    shares = _fit(examples).predict(examples.blocks)

    assert shares.shape == (40, 3)
    assert shares[:, 1].max() < 0.05


def test_many_labels_with_five_examples_are_judged_by_one_hold_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Above the work limit one fold chooses the penalty; every label is still trained."""
    monkeypatch.setattr(plan, "_ONE_HOLD_OUT_WORK", 0)
    examples = a_training_set([5] * 40, spread=0.5)

    model = _fit(examples)

    assert model.report is not None
    assert 0.1 < len(model.report.out_of_fold.examples) / 200 < 0.4
    assert _accuracy(model, examples) > 0.95


def test_large_sets_take_plain_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large sets use float32, with a note in the report that bytes may differ elsewhere."""
    examples = a_training_set([30] * 4)
    exact = _fit(examples)
    monkeypatch.setattr("chalicelib.engines.arithmetic.EXACT_EXAMPLES", 100)
    monkeypatch.setattr(training_report, "EXACT_EXAMPLES", 100)

    plain = _fit(examples)

    assert exact.report is not None
    assert plain.report is not None
    assert (exact.report.is_exact, plain.report.is_exact) == (True, False)
    np.testing.assert_allclose(
        plain.predict(examples.blocks), exact.predict(examples.blocks), atol=0.05
    )


def test_one_label_fails_with_a_remedy() -> None:
    """A training with one label fails with a remedy."""
    with pytest.raises(TrainingFailed, match="another label"):
        _fit(a_training_set([10]))


def test_the_report_is_ready_for_json() -> None:
    """Every figure of the metrics document is a JSON number."""
    model = _fit(a_training_set([20] * 3), out_of_domain_rate=0.05)

    assert model.report is not None
    report = model.report
    text = json.dumps(
        [
            dataclasses.asdict(report.metrics),
            report.thresholds,
            dataclasses.asdict(report.curve),
            dataclasses.asdict(report.accuracy_interval),
            [report.calibration_error, report.brier_score, report.temperature],
        ],
        allow_nan=False,
    )
    assert "confusion_matrix" in text


@pytest.mark.parametrize("is_background_known", [False, True])
def test_the_stored_model_answers_like_the_trained_one(is_background_known: bool) -> None:
    """The stored model answers like the trained one."""
    examples = a_training_set([20] * 3)
    if is_background_known:
        examples = with_background(examples)
    model = _fit(examples, out_of_domain_rate=0.05)

    again = load(dump(model))

    np.testing.assert_array_equal(again.predict(examples.blocks), model.predict(examples.blocks))
    np.testing.assert_array_equal(again.rejects(examples.blocks), model.rejects(examples.blocks))
