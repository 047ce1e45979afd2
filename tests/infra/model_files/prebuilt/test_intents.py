"""The prebuilt intent model: its sentences, how it is built, and the one installed."""

import json
from collections import Counter

import numpy as np
import pytest

from chalicelib.engines.text import classifier
from chalicelib.engines.text.encoding.encoders import load_encoder
from infra.model_files import intent_data
from infra.model_files.intent_data import read_intents, read_patterns, written_out
from infra.model_files.manifest import MODELS
from infra.model_files.prebuilt import intent_model
from infra.models import default_directory

MODEL = MODELS["GlobalIntentModel"]
REQUESTS = {
    "could you get me up at half past five on Saturday": "alarm",
    "start a countdown of seven minutes for the noodles": "timer",
    "shall I take a raincoat with me today": "weather",
    "put the porch lamp off": "lights-and-heating",
    "I wish to reserve dinner for nine people": "restaurant-booking",
    "what's the Norwegian word for butter": "translate",
    "how many kilometres are forty miles": "unit-conversion",
    "get me plane tickets to Helsinki": "flight-booking",
    "somebody made purchases with my card that I know nothing about": "fraud",
    "move ninety euros over to Carla": "money-transfer",
    "bye then, see you": "goodbye",
    "thanks so much": "thanks",
    "has my order been shipped yet": "order-status",
    "I forgot my password": "password-reset",
    "the laptop freezes all the time": "it-problem",
    "add leeks to the shopping list": "shopping-list",
    "who won the hockey match": "sports-results",
    "say that one more time please": "repeat",
    "let me speak to a human being": "human-agent",
    "how is the word rhubarb spelt": "spelling",
}
FOREIGN = (
    "the treaty of 1648 redrew several borders in central Europe",
    "photosynthesis happens in the chloroplasts of green leaves",
    "the committee adjourned without reaching a decision on the zoning matter",
    "her third novel explores grief in a fishing village",
    "basalt forms when lava cools quickly near the surface",
)


def test_written_out_takes_each_choice_in_turn():
    """A pattern gives as many sentences as its longest choice; shorter ones repeat."""
    assert written_out("call {a|b|c} at {one|two}") == [
        "call a at one",
        "call b at two",
        "call c at one",
    ]
    assert written_out("plain") == ["plain"]


def test_patterns_know_labels_and_comments():
    """Comments and empty lines are skipped; a sentence without a label is an error."""
    content = "# note\n\n= one\nhello\n= two\n{a|b}\n"

    assert list(read_patterns(content)) == [("hello", "one"), ("a", "two"), ("b", "two")]
    with pytest.raises(ValueError, match="precedes the first label"):
        list(read_patterns("hello\n"))


def test_a_sentence_under_two_intents_is_refused(tmp_path, monkeypatch):
    """A sentence with two intents is an error when the file is read."""
    path = tmp_path / "patterns.txt"
    path.write_text("= one\nHello\n= two\nhello\n")
    monkeypatch.setattr(intent_data, "EVERYDAY", path)

    with pytest.raises(ValueError, match="has the labels one and two"):
        read_intents()


def test_sentences_are_distinct_and_enough_for_every_intent():
    """Sentences are unique, and every intent has at least twenty."""
    sentences = read_intents()
    counts = Counter(label for _, label in sentences)

    assert len({text.casefold() for text, _ in sentences}) == len(sentences)
    assert min(counts.values()) >= 20
    assert intent_data.OUTSIDE not in counts
    assert not any(sign in text for text, _ in sentences for sign in "{}|")


def test_training_twice_gives_the_same_artifact():
    """A few intents become a model, the same byte for byte, that knows them."""
    chosen = ("alarm", "fraud", "recipe", "thanks")
    sentences = [pair for pair in read_intents() if pair[1] in chosen]
    encoders = [load_encoder(default_directory(), name) for name in MODEL.needs]

    first, second = (intent_model.train(sentences, encoders) for _ in range(2))

    assert classifier.dump(first) == classifier.dump(second)
    assert first.report is not None
    assert first.report.metrics.test_accuracy > 0.7
    card = intent_model.make_card(MODEL.name, encoders, first.report, classifier.dump(first))
    assert card["trainedOn"]["examples"] == len(sentences)
    assert card["trainedOn"]["labels"] == len(chosen)


@pytest.fixture(scope="module")
def installed_model():
    """The installed model and a function from texts to vectors."""
    model = classifier.load((default_directory() / MODEL.folder / "artifact.npz").read_bytes())
    encoders = [load_encoder(default_directory(), use.name) for use in model.encoders]
    return model, lambda texts: {encoder.name: encoder.encode(texts) for encoder in encoders}


def test_installed_model_knows_requests_in_other_words(installed_model):
    """At least 17 of 20 requests in other words are recognized."""
    model, embed = installed_model
    places = model.predict(embed(list(REQUESTS))).argmax(axis=1)
    found = [model.labels[place] for place in places]
    known = {text.casefold() for text, _ in read_intents()}

    assert not known & set(REQUESTS)
    hits = [answer == label for answer, label in zip(found, REQUESTS.values(), strict=True)]
    assert sum(hits) >= 17, list(zip(REQUESTS, found, strict=True))


def test_installed_model_rejects_what_is_not_a_request(installed_model):
    """Most sentences that are not requests are out of its domain."""
    model, embed = installed_model

    assert np.mean(model.rejects(embed(list(FOREIGN)))) >= 0.6
    assert np.mean(model.rejects(embed(list(REQUESTS)))) <= 0.15


def test_card_and_metrics_are_of_the_installed_model(installed_model):
    """Card, metrics, artifact and encoders belong together."""
    model, _ = installed_model
    folder = default_directory() / MODEL.folder
    card = json.loads((folder / "card.json").read_text())
    metrics = json.loads((folder / "metrics.json").read_text())["metricsData"]

    assert metrics["labels"] == list(model.labels) == sorted({label for _, label in read_intents()})
    assert [use["sha256"] for use in card["engine"]["encoders"]] == [
        use.sha256 for use in model.encoders
    ]
    assert card["metrics"]["testAccuracy"]["value"] > 0.75
    assert card["calibrationError"] < 0.05
