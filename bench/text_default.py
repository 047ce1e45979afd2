"""Measures trainings without options, for which the service chooses the encoders.

On English intents, the training is compared with logistic regression on the same vectors. Other
measurements use out-of-scope texts of CLINC150, and topics in nine languages.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

from bench import peers
from bench.report import Bar, Report, say
from bench.text_data import Embedded, Embedder, accuracy, right, train
from bench.text_intents import REJECTION_RATE, judge_out_of_scope
from bench.text_languages import CODES
from chalicelib.domain.models.training_texts import TrainingTexts
from chalicelib.engines.text import benefit
from chalicelib.engines.text.encoding.encoders import is_installed
from chalicelib.engines.text.encoding.profiles import (
    SAMPLE_OF_LABEL,
    Profile,
    ProfileRequest,
    climb,
    find_ladder,
    needs_proof,
    required_decrease,
)

BELOW_PLAIN = 0.003
# Texts by which plain logistic regression chooses its penalty.
CHOOSING = 2_000
SETS = (
    ("BANKING77 full", "banking77_train", "banking77_test", 0.940, None),
    ("CLINC150 full", "clinc150_full_train", "clinc150_full_test", 0.968, REJECTION_RATE),
)
MEAN_BAR, EACH_BAR = Bar(0.88), Bar(0.84)


def bench_default(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Measure both sets of intents, and every language."""
    for what, trained_on, asked, bar, rate in SETS:
        _intents(report, embedder, what, (trained_on, asked), Bar(bar), rate)
    _languages(report, embedder)


def chosen_profile(embedder: Embedder, name: str, language: str) -> Profile:
    """Choose the encoders of a training on the file `name`, as `TextLearner` does."""
    texts, labels = embedder.rows(name)
    names = sorted(set(labels))
    places = {label: place for place, label in enumerate(names)}
    whole = TrainingTexts(
        labels=names,
        texts=texts,
        label_indexes=[places[label] for label in labels],
        example_ids=list(range(len(texts))),
        spans=[(0, len(texts))],
    )
    wanted = ProfileRequest(language, None, None)
    ladder = find_ladder(wanted, texts, lambda encoder: is_installed(embedder.models, encoder))

    def compare(count: int, present: Profile, step: Profile) -> benefit.Benefit:
        sample = whole.drawn(count, SAMPLE_OF_LABEL)
        data = Embedded(
            sample.texts,
            [names[place] for place in sample.label_indexes],
            embedder.embed(
                sample.texts, f"{name} sample", sorted({*present.encoders, *step.encoders})
            ),
        )
        examples = embedder.examples(data, name)
        worth = required_decrease(step, present)
        return benefit.measure_benefit(
            examples, present.encoders, step.encoders, worth, needs_proof=needs_proof(present)
        )

    return climb(ladder, texts, language, compare)


def _intents(
    report: Report,
    embedder: Embedder,
    what: str,
    files: tuple[str, str],
    bar: Bar,
    rate: float | None,
) -> None:
    """Report accuracy on one set of intents, accuracies of simpler models, and rejected texts."""
    chosen = chosen_profile(embedder, files[0], "en_US")
    say(f"{what}: {chosen.name}. {chosen.reason}")
    model, _ = train(embedder, files[0], chosen.encoders, rate)
    asked = embedder.read(files[1], chosen.encoders)
    found = accuracy(model, asked)
    name = f"{what}, default ({chosen.name})"
    report.add(f"{name}: accuracy", found.value, "", bar, interval=found.interval)
    if rate is not None:
        judge_out_of_scope(report, embedder, f"default ({chosen.name})", model)
    plain = _plain(embedder.read(files[0], chosen.encoders), asked)
    least = Bar(plain - BELOW_PLAIN)
    peer = ("logistic regression on the same vectors", plain)
    report.add(f"{name}: accuracy next to plain", found.value, "", least, peer)
    texts, labels = embedder.rows(files[0])
    svm = right(peers.tfidf_svm(texts, labels, asked.texts), asked.labels)
    peer = ("TF-IDF + SVM", svm)
    report.add(f"{name}: accuracy next to words", found.value, "", Bar(svm), peer)


def _plain(trained_on: Embedded, asked: Embedded) -> float:
    """Return the accuracy of logistic regression on the same vectors, with a cross-validated C."""
    vectors, labels = _side_by_side(trained_on), np.array(trained_on.labels)
    some = np.random.default_rng(0).permutation(len(labels))[:CHOOSING]
    chosen = LogisticRegressionCV(Cs=[1.0, 10.0, 100.0], cv=3, max_iter=100)
    chosen.fit(vectors[some], labels[some])
    model = LogisticRegression(C=float(np.ravel(chosen.C_)[0]), max_iter=500)
    model.fit(vectors, labels)
    return right([str(answer) for answer in model.predict(_side_by_side(asked))], asked.labels)


def _side_by_side(data: Embedded) -> np.ndarray:
    """Concatenate the vectors of all encoders to float32, shape (texts, dims of all encoders)."""
    return np.concatenate([data.blocks[name] for name in sorted(data.blocks)], axis=1)


def _languages(report: Report, embedder: Embedder) -> None:
    """For each language, train on topics in this language, and test in the same language."""
    scores = []
    for code in CODES:
        # English is included, because its texts have other encoders.
        language = "en_US" if code == "en" else code.replace("-", "_")
        chosen = chosen_profile(embedder, f"sib200_{code}_train", language)
        model, _ = train(embedder, f"sib200_{code}_train", chosen.encoders)
        found = accuracy(model, embedder.read(f"sib200_{code}_test", chosen.encoders))
        scores.append(found.value)
        name = f"SIB-200 {code}, default ({chosen.name}): accuracy"
        report.add(name, found.value, "", EACH_BAR, interval=found.interval)
    report.add("SIB-200 mean, default: accuracy", float(np.mean(scores)), "", MEAN_BAR)
