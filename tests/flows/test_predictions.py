"""Predictions of intent and sentiment, and how they are counted."""

from __future__ import annotations

import pytest

from tests.flows.client import LANGUAGE
from tests.flows.world import csv_file

QUESTION = "will it rain in the next hours"
GOOD = ["lovely", "wonderful", "great", "perfect", "happy", "excellent", "brilliant", "delightful"]
BAD = ["awful", "terrible", "horrible", "broken", "sad", "useless", "dreadful", "disgusting"]
THINGS = [
    "jacket",
    "lamp",
    "kettle",
    "bicycle",
    "tent",
    "sofa",
    "mirror",
    "carpet",
    "radio",
    "clock",
    "chair",
    "bag",
]
SHOP = {
    "delivery": (
        "where is my {}",
        "when will the {} be delivered",
        "track the {} I ordered",
        "my {} has not arrived yet",
        "how long does it take to ship a {}",
    ),
    "refund": (
        "I want my money back for the {}",
        "how do I return the {}",
        "please refund my {}",
        "the {} is broken, give me my money back",
        "can I send the {} back",
    ),
}
DULL = ["grey", "wooden", "square", "daily", "weekly", "plain", "usual", "regular"]


def counted(client):
    """Return the predictions of this month: used, remaining, maximum."""
    usage = client.get("/v2/apiusage").ok["data"][0]
    return usage["predictionsUsed"], usage["predictionsRemaining"], usage["predictionsMax"]


def test_json_and_multipart_answer_alike(owner, weather_model):
    """JSON and form give the same labels, in descending order, adding up to one."""
    by_json = owner.predict(weather_model, QUESTION).ok
    fields = {"modelId": weather_model, "document": QUESTION}
    by_form = owner.multipart("POST", f"{LANGUAGE}/intent", fields).ok

    assert by_json == by_form
    assert list(by_json) == ["probabilities", "object"]
    shares = [item["probability"] for item in by_json["probabilities"]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert len(shares) == 3


def test_number_of_results_and_sample_id(owner, weather_model):
    """`numResults` limits the list; `sampleId` is returned as sent."""
    answer = owner.predict(weather_model, QUESTION, numResults="2", sampleId="  7 é ").ok
    zero = owner.predict(weather_model, QUESTION, numResults=0)

    assert len(answer["probabilities"]) == 2
    assert answer["sampleId"] == "  7 é "
    assert zero.status == 400


def test_model_of_another_type_is_refused(owner, weather_model):
    """A sentiment call refuses an intent model, and is not counted."""
    before = counted(owner)
    answer = owner.predict(weather_model, QUESTION, "sentiment")

    assert answer.status == 400
    assert counted(owner) == before


def test_headers_agree_with_usage(client, owner, weather_model):
    """Rate-limit headers equal apiusage; refused calls change neither."""
    first = client.predict("CommunitySentiment", "good", "sentiment")
    foreign = client.predict(weather_model, "good")
    empty = client.predict("CommunitySentiment", " \n", "sentiment")
    second = client.predict("CommunitySentiment", "bad", "sentiment")

    assert [answer.status for answer in (first, foreign, empty, second)] == [200, 404, 400, 200]
    remaining = [
        int(answer.headers["x-ratelimit-remaining"]) for answer in (first, foreign, empty, second)
    ]
    assert remaining == [1999, 1999, 1999, 1998]
    assert second.headers["x-ratelimit-limit"] == "2000"
    assert second.headers["x-ratelimit-reset"].endswith("-01 00:00:00.0")
    assert counted(client) == (2, 1998, 2000)


def test_used_up_allowance_is_a_429(world, client):
    """The plan's last prediction is answered, the next is refused and not counted."""
    world.set_used(client, 1999)

    last = client.predict("CommunitySentiment", "good", "sentiment")
    refused = [client.predict("CommunitySentiment", "good", "sentiment") for _ in range(3)]

    assert (last.status, last.headers["x-ratelimit-remaining"]) == (200, "0")
    assert [answer.status for answer in refused] == [429] * 3
    assert {answer.headers["x-ratelimit-remaining"] for answer in refused} == {"0"}
    assert int(refused[0].headers["retry-after"]) > 0
    assert counted(client) == (2000, 0, 2000)


def test_out_of_domain_text_has_no_label(owner):
    """An out-of-domain text gets an empty list, an in-domain text a label."""
    rows = [
        (shape.format(thing), label)
        for label, shapes in SHOP.items()
        for shape in shapes
        for thing in THINGS
    ]
    dataset = owner.upload(csv_file(rows), call="upload/sync")
    model_id = owner.model(dataset["id"], "bounded", algorithm="multilingual-intent-ood")
    inside = owner.predict(model_id, "when will the jacket be delivered").ok
    outside = owner.predict(model_id, "who won the football world cup in Brazil").ok
    matrix = owner.get(f"{LANGUAGE}/models/{model_id}").ok["metricsData"]

    assert inside["probabilities"][0]["label"] == "delivery"
    assert outside["probabilities"] == []
    assert len(matrix["confusionMatrix"]) == len(matrix["labels"]) + 1


def test_prebuilt_sentiment_separates_moods(client):
    """CommunitySentiment answers every account with the three labels."""
    answer = client.predict("CommunitySentiment", "I love this, it is wonderful!", "sentiment").ok
    sad = client.predict("CommunitySentiment", "This is awful, I hate it.", "sentiment").ok
    card = client.get(f"{LANGUAGE}/models/CommunitySentiment/card")

    assert answer["probabilities"][0]["label"] == "positive"
    assert sad["probabilities"][0]["label"] == "negative"
    assert {item["label"] for item in sad["probabilities"]} == {"positive", "negative", "neutral"}
    assert card.status == 200


def test_prebuilt_intents_and_what_is_none_of_them(client):
    """GlobalIntentModel answers every account, with an empty list for unknown intents."""
    answer = client.predict("GlobalIntentModel", "please wake me at six in the morning").ok
    outside = client.predict("GlobalIntentModel", "the treaty of 1648 redrew several borders").ok

    assert answer["probabilities"][0]["label"] == "alarm"
    assert outside["probabilities"] == []


def test_own_sentiment_model(client):
    """A sentiment dataset accepts labels in any case and trains a sentiment model."""
    rows = [(f"what a {word} day", "Positive") for word in GOOD]
    rows += [(f"what a {word} day", "NEGATIVE") for word in BAD]
    rows += [(f"it was a {word} box", "neutral") for word in DULL]
    rows.append(("no mood at all", "angry"))
    dataset = client.upload(csv_file(rows), call="upload/sync", type="text-sentiment")
    model_id = client.model(dataset["id"])
    training = client.get(f"{LANGUAGE}/train/{model_id}").ok

    assert {item["name"] for item in dataset["labelSummary"]["labels"]} == {
        "positive",
        "negative",
        "neutral",
    }
    assert dataset["totalExamples"] == 24
    assert training["modelType"] == "text-sentiment"
    assert "algorithm" not in training
    assert client.best(model_id, "a truly wonderful and happy day", "sentiment") == "positive"
    assert client.best(model_id, "a terrible, horrible day", "sentiment") == "negative"


def test_model_that_waits_does_not_predict(stack, client, weather_id):
    """A model without a successful training is a 409, which costs nothing."""
    dataset_id = client.dataset(csv_file([(f"a {n}", "ab"[n % 2]) for n in range(10)]))["id"]
    stack.pause_workers()
    try:
        model_id = client.train(dataset_id)["modelId"]
        answer = client.predict(model_id, "a 1")
        metrics = client.get(f"{LANGUAGE}/models/{model_id}")
    finally:
        stack.resume_workers()
    client.wait_model(model_id)

    assert answer.status == 409
    assert metrics.status == 404
    assert counted(client)[0] == 0
