"""Measures the installed prebuilt text models: sentiments of SST, and intents of CLINC150."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench import peers
from bench.report import Bar, Report, say
from bench.sentiment.figures import score_left_out
from bench.sentiment.packages import CLEAR_SENTENCES, VADER
from bench.sentiment.run import READING, label_texts
from bench.sentiment.sentences import Sentences, split_sentences
from bench.text_data import (
    Embedded,
    Embedder,
    accuracy,
    answers,
    calibration_error,
    right,
    share_of,
)
from chalicelib.domain.common.arrays import Singles
from chalicelib.engines import metrics
from chalicelib.engines.text import classifier
from chalicelib.engines.text.classifier import TrainedText
from infra.downloads.fetch import extract, fetch
from infra.model_files.sentiment_head import LABELS

WARM_PREDICTIONS = 200
# Least amount by which the mean recall over the sources must be above VADER's.
ABOVE_VADER = 0.03
NEGATIVE_RECALL = Bar(0.66)
Recalls = Mapping[str, float]
SENTENCES = Path(__file__).parents[1] / "build" / "sentiment"
INTENTS = {
    "account-balance": ("balance", "transactions", "spending_history"),
    "alarm": ("alarm",),
    "calculator": ("calculator",),
    "calendar": (
        "calendar",
        "calendar_update",
        "meeting_schedule",
        "schedule_meeting",
    ),
    "car-trouble": (
        "gas",
        "jump_start",
        "oil_change_how",
        "oil_change_when",
        "schedule_maintenance",
        "tire_change",
        "tire_pressure",
    ),
    "card-declined": ("card_declined",),
    "change-language": ("change_language",),
    "currency-exchange": ("exchange_rate",),
    "date-today": ("date",),
    "definition": ("definition",),
    "directions": ("directions", "distance"),
    "discount": ("redeem_rewards", "rewards_balance"),
    "flight-booking": ("book_flight",),
    "flight-status": ("flight_status",),
    "fraud": ("report_fraud",),
    "fun-fact": ("fun_fact",),
    "goodbye": ("goodbye",),
    "greeting": ("greeting",),
    "health-advice": ("calories", "nutrition_info"),
    "help": ("what_can_i_ask_you",),
    "hotel-booking": ("book_hotel",),
    "insurance": ("insurance", "insurance_change"),
    "joke": ("tell_joke",),
    "leave-request": ("pto_balance", "pto_request", "pto_request_status", "pto_used"),
    "lights-and-heating": ("smart_home",),
    "loan": (
        "credit_limit",
        "credit_limit_change",
        "credit_score",
        "improve_credit_score",
        "interest_rate",
    ),
    "lost-card": (
        "damaged_card",
        "freeze_account",
        "replacement_card_duration",
        "report_lost_card",
    ),
    "luggage": ("carry_on", "lost_luggage"),
    "money-transfer": ("transfer",),
    "no": ("no",),
    "order-status": ("order_status",),
    "pay-bill": ("bill_balance", "bill_due", "min_payment", "pay_bill"),
    "payday": ("income", "payday"),
    "phone-call": ("make_call",),
    "play-music": ("next_song", "play_music", "what_song"),
    "recipe": ("cook_time", "ingredient_substitution", "ingredients_list", "recipe"),
    "reminder": ("reminder", "reminder_update"),
    "repeat": ("repeat",),
    "restaurant-booking": ("restaurant_reservation",),
    "restaurant-tips": ("restaurant_reviews", "restaurant_suggestion"),
    "send-message": ("text",),
    "shopping-list": ("shopping_list", "shopping_list_update"),
    "small-talk": (
        "are_you_a_bot",
        "how_old_are_you",
        "what_are_your_hobbies",
        "what_is_your_name",
        "where_are_you_from",
        "who_do_you_work_for",
        "who_made_you",
    ),
    "spelling": ("spelling",),
    "taxi": ("uber",),
    "thanks": ("thank_you",),
    "time-now": ("time", "timezone"),
    "timer": ("timer",),
    "todo-list": ("todo_list", "todo_list_update"),
    "traffic": ("traffic",),
    "translate": ("translate",),
    "travel-documents": ("international_visa", "travel_alert", "vaccines"),
    "unit-conversion": ("measurement_conversion",),
    "volume": ("change_volume",),
    "weather": ("weather",),
    "yes": ("yes",),
}
"""Labels of CLINC150 that mean the same as each intent of GlobalIntentModel."""


def load(models: Path, name: str) -> TrainedText:
    """Load an installed model."""
    return classifier.load((models / "prebuilt" / name / "artifact.npz").read_bytes())


def bench_prebuilt(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Measure both prebuilt models. The profiles have no effect on these models."""
    _bench_sentiment(report, embedder)
    _bench_intents(report, embedder)


def _bench_sentiment(report: Report, embedder: Embedder) -> None:
    """Measure CommunitySentiment and VADER on the Stanford Sentiment Treebank with three labels."""
    model = load(embedder.models, "CommunitySentiment")
    names = [use.name for use in model.encoders]
    test = embedder.read("sst3_test", names)
    asked = peers.vader(test.texts)
    peer = None if asked is None else ("VADER", right(asked, test.labels))
    found = accuracy(model, test)
    shares, truth = answers(model, test)
    recall = _recalls(truth, shares.argmax(axis=1), model.labels)
    error = calibration_error(model, test)
    report.add(
        "SST-3, CommunitySentiment: accuracy",
        found.value,
        "",
        Bar(0.72),
        peer,
        interval=found.interval,
    )
    macro_recall = float(np.mean([*recall.values()]))
    report.add("SST-3, CommunitySentiment: macro recall", macro_recall, "", Bar(0.64))
    rival = None if asked is None else _vader_recalls(truth, asked, model.labels)
    _report_recalls(report, "SST-3, CommunitySentiment", recall, rival)
    report.add(
        "SST-3, CommunitySentiment: calibration error",
        error.value,
        "",
        Bar(0.05, is_ceiling=True),
        interval=error.interval,
    )
    _report_left_out(report, embedder)
    encoder = embedder.encoder(names[0])
    durations = []
    for text in test.texts[:WARM_PREDICTIONS]:
        start = time.perf_counter()
        model.predict({encoder.name: encoder.encode([text])})
        durations.append(1_000 * (time.perf_counter() - start))
    report.add("CommunitySentiment: warm prediction, p50", float(np.median(durations)), "ms")


def _report_left_out(report: Report, embedder: Embedder) -> None:
    """For each source, report the metrics of a head trained without this source, and of VADER.

    Macro recall and calibration error come from the model's card. The recalls of the labels come
    from heads that are fitted here.
    """
    path = embedder.models / "prebuilt" / "CommunitySentiment" / "card.json"
    left_out = json.loads(path.read_text(encoding="utf-8"))["leftOut"]
    sentences = _read_sentences()
    peer = _vader_by_source(sentences)
    macro = {source: float(np.mean([*recalls.values()])) for source, recalls in peer.items()}
    own = _left_out_recalls(embedder, sentences)
    for source, found in left_out.items():
        name = f"CommunitySentiment without {source}"
        rival = macro.get(source)
        report.add(
            f"{name}: macro recall",
            found["macroRecall"],
            "",
            None if rival is None else Bar(rival),
            None if rival is None else ("VADER", rival),
        )
        _report_recalls(report, name, own[source], peer.get(source))
        error = found["calibrationError"]
        report.add(f"{name}: calibration error", error, "", Bar(0.05, is_ceiling=True))
    if macro:
        mean = float(np.mean([found["macroRecall"] for found in left_out.values()]))
        rival = float(np.mean([*macro.values()]))
        name = "CommunitySentiment without each source, mean: macro recall"
        report.add(name, mean, "", Bar(rival + ABOVE_VADER), ("VADER", rival))


def _report_recalls(report: Report, name: str, own: Recalls, peer: Recalls | None) -> None:
    for label, value in own.items():
        bar = NEGATIVE_RECALL if label == "negative" else None
        rival = None if peer is None else ("VADER", peer[label])
        report.add(f"{name}: recall, {label}", value, "", bar, rival)


def _read_sentences() -> Sentences:
    """Download the rated sentences if they are missing, and read them."""
    with TemporaryDirectory() as folder:
        for package in (VADER, CLEAR_SENTENCES):
            extract(package, fetch(package, SENTENCES, say), Path(folder))
        return split_sentences(Path(folder))


def _left_out_recalls(embedder: Embedder, sentences: Sentences) -> dict[str, Recalls]:
    """Return, for each source, the recall of each label with a head fitted without this source."""

    def encode(texts: list[str]) -> Singles:
        return embedder.embed(texts, "rated sentences", [READING])[READING]

    texts, truth = label_texts(sentences.trained, encode)
    rated = sorted({sentence.source for sentence in sentences.training})
    return {
        source: _recalls(part.truth, part.logits.argmax(axis=1), LABELS)
        for source, part in score_left_out(texts, truth, rated).items()
    }


def _vader_by_source(sentences: Sentences) -> dict[str, Recalls]:
    """Return VADER's recall of each label for each source; empty if VADER cannot run."""
    rated = sentences.training
    asked = peers.vader([sentence.text for sentence in rated])
    if asked is None:
        return {}
    recalls = {}
    for source in sorted({sentence.source for sentence in rated}):
        rows = [row for row, sentence in enumerate(rated) if sentence.source == source]
        truth = np.array([rated[row].label for row in rows])
        recalls[source] = _vader_recalls(truth, [asked[row] for row in rows], LABELS)
    return recalls


def _vader_recalls(truth: np.ndarray, asked: Sequence[str], labels: Sequence[str]) -> Recalls:
    return _recalls(truth, np.array([labels.index(answer) for answer in asked]), labels)


def _recalls(truth: np.ndarray, found: np.ndarray, labels: Sequence[str]) -> Recalls:
    """Return the recall of each label, given the indexes of true labels and of predicted labels."""
    matrix = metrics.confusion_matrix(truth, found, len(labels))
    recall = metrics.label_scores(matrix, len(labels)).recall
    return dict(zip(labels, recall.tolist(), strict=True))


def _bench_intents(report: Report, embedder: Embedder) -> None:
    """Measure GlobalIntentModel on the CLINC150 labels that it knows, and on out-of-scope texts.

    The model was not trained on CLINC150, and some labels have another meaning there.
    """
    model = load(embedder.models, "GlobalIntentModel")
    names = [use.name for use in model.encoders]
    places = {label: intent for intent, labels in INTENTS.items() for label in labels}
    whole = embedder.read("clinc150_full_test", names)
    rows = [row for row, label in enumerate(whole.labels) if label in places]
    test = Embedded(
        [whole.texts[row] for row in rows],
        [places[whole.labels[row]] for row in rows],
        {name: block[rows] for name, block in whole.blocks.items()},
    )
    found = accuracy(model, test)
    outside = embedder.read("clinc150_full_oos_test", names)
    caught = share_of(model.rejects(outside.blocks).astype(float))
    rejected = float(model.rejects(test.blocks).mean())
    name = f"CLINC150, {len(places)} labels, GlobalIntentModel"
    report.add(f"{name}: accuracy", found.value, interval=found.interval)
    report.add(f"{name}: rejected", rejected)
    report.add(
        "CLINC150 out of scope, GlobalIntentModel: recall", caught.value, interval=caught.interval
    )
