"""Trainings as callers see them: states, records, figures, limits and queue order."""

from __future__ import annotations

import time

import pytest

from infra.local.worker import BLIND_POLL_SECONDS
from tests.flows.client import LANGUAGE
from tests.flows.world import csv_file, made_rows, weather

STATES = ["QUEUED", "RUNNING", "SUCCEEDED"]


def test_states_go_forward_and_progress_never_falls(owner, weather_id):
    """States are QUEUED, RUNNING, SUCCEEDED in order; only QUEUED has a queuePosition."""
    posted = owner.train(weather_id, "watched", trainParams='{"trainSplitRatio":"0.7"}')
    seen = [posted, *owner.watch_model(posted["modelId"])]

    places = [STATES.index(state["status"]) for state in seen]
    assert places == sorted(places)
    progress = [state["progress"] for state in seen]
    assert progress == sorted(progress)
    assert all(("queuePosition" in state) == (state["status"] == "QUEUED") for state in seen)
    assert posted["queuePosition"] >= 1
    assert posted["trainParams"] == {"trainSplitRatio": 0.7}
    last = seen[-1]
    assert (last["progress"], last["learningRate"]) == (1, 0)
    assert isinstance(last["progress"], int)
    stats = last["trainStats"]
    assert (stats["labels"], stats["examples"]) == (3, 73)
    assert stats["trainSplitSize"] + stats["testSplitSize"] == 73
    assert stats["lastEpochDone"] == last["epochs"] > 0
    assert {state["createdAt"] for state in seen} == {posted["createdAt"]}


def test_model_shows_metrics_curve_card_and_list(owner, weather_id, weather_model):
    """The figures of one model agree in metrics, curve, card and list."""
    status = owner.get(f"{LANGUAGE}/train/{weather_model}").ok
    metrics = owner.get(f"{LANGUAGE}/models/{weather_model}").ok
    curve = owner.items(f"{LANGUAGE}/models/{weather_model}/lc")
    card = owner.get(f"{LANGUAGE}/models/{weather_model}/card").ok
    models = owner.items(f"{LANGUAGE}/datasets/{weather_id}/models")

    data = metrics["metricsData"]
    labels = [
        item["name"]
        for item in owner.get(f"{LANGUAGE}/datasets/{weather_id}").ok["labelSummary"]["labels"]
    ]
    assert data["labels"] == labels
    assert len(data["f1"]) == len(data["precision"]) == len(data["recall"]) == 3
    assert sum(map(sum, data["confusionMatrix"])) == status["trainStats"]["testSplitSize"]
    assert set(data["threshold"]) == set(labels)
    assert [item["epoch"] for item in curve] == list(range(1, status["epochs"] + 1))
    assert curve[-1]["metricsData"]["labels"] == labels
    assert card["trainedOn"]["datasetId"] == weather_id
    assert len(card["artifactSha256"]) == 64
    (listed,) = [model for model in models if model["modelId"] == weather_model]
    assert listed["name"] == status["name"] == "weather"
    assert listed["status"] == "SUCCEEDED"
    assert not {"trainStats", "trainParams", "epochs", "learningRate"} & set(listed)
    vision = owner.get(f"/v2/vision/models/{weather_model}").ok
    assert vision == metrics


def test_learning_curve_is_paged(owner, weather_model):
    """The links of the learning curve's pages lead through every epoch."""
    path = f"{LANGUAGE}/models/{weather_model}/lc"
    one_by_one = owner.items(path, count=1)

    assert one_by_one == owner.items(path)


def test_too_few_examples_are_refused_by_name(client):
    """Training lists every label with fewer than five examples, with its count."""
    rows = [(f"text {n}", "many") for n in range(6)] + [("lonely", "few")]
    dataset_id = client.dataset(csv_file(rows))["id"]
    answer = client.json("POST", f"{LANGUAGE}/train", {"name": "m", "datasetId": dataset_id})

    assert answer.status == 400
    assert "few" in answer.data["message"]


def test_sixth_open_training_waits_for_the_first_five(stack, client):
    """An account may have five trainings QUEUED or RUNNING; the sixth is a 429."""
    dataset_id = client.dataset(weather())["id"]
    stack.pause_workers()
    try:
        posted = [client.train(dataset_id, f"m{n}") for n in range(5)]
        sixth = client.json("POST", f"{LANGUAGE}/train", {"name": "m", "datasetId": dataset_id})
        busy = client.delete(f"{LANGUAGE}/models/{posted[0]['modelId']}")
        guarded = client.delete(f"{LANGUAGE}/datasets/{dataset_id}")
        again = client.json("POST", f"{LANGUAGE}/retrain", {"modelId": posted[0]["modelId"]})
    finally:
        stack.resume_workers()
    ended = [client.wait_model(item["modelId"]) for item in posted]

    assert sixth.status == 429
    assert (busy.status, guarded.status, again.status) == (409, 409, 409)
    assert [item["status"] for item in ended] == ["SUCCEEDED"] * 5
    cards = [client.get(f"{LANGUAGE}/models/{item['modelId']}/card").ok for item in ended]
    assert len({card["artifactSha256"] for card in cards}) == 1


def test_paid_trainings_come_before_free_ones(stack, world):
    """Waiting paid trainings run first; queuePosition counts the trainings in front."""
    free, paid = world.caller(), world.caller("BRONZE")
    rows = csv_file(made_rows(30, labels=2))
    free_id, paid_id = (caller.dataset(rows)["id"] for caller in (free, paid))
    stack.pause_workers()
    # A poll that was on its way when the worker stopped is answered before any job is sent.
    for _ in range(10 * (BLIND_POLL_SECONDS + 1)):
        time.sleep(0.1)  # in steps, so that the emulator gets its time after a stall, too
    try:
        waiting = [(free, free.train(free_id, f"free {n}")) for n in range(2)]
        waiting += [(paid, paid.train(paid_id, f"paid {n}")) for n in range(2)]
        posted = [item["queuePosition"] for _, item in waiting]
        places = [
            caller.get(f"{LANGUAGE}/train/{item['modelId']}").ok["queuePosition"]
            for caller, item in waiting
        ]
    finally:
        stack.resume_workers()
    ended = [caller.wait_model(item["modelId"]) for caller, item in waiting]

    assert posted == [1, 2, 1, 2]
    assert places == [3, 4, 1, 2]
    assert all("queuePosition" not in item for item in ended)
    moments = [item["updatedAt"] for item in ended]
    assert max(moments[2:]) <= min(moments[:2])


LANGUAGES = {
    "en_US": ("Where is my parcel", "I want my money back", "number"),
    "en_GB": ("Where is my parcel", "I want my money back", "number"),
    "fr": ("Où est mon colis", "Je veux être remboursé", "numéro"),
    "de": ("Wo ist mein Paket", "Ich möchte mein Geld zurück", "Nummer"),
    "it": ("Dov'è il mio pacco", "Voglio indietro i miei soldi", "numero"),
    "pt_PT": ("Onde está a minha encomenda", "Quero o meu dinheiro de volta", "número"),
    "es": ("Dónde está mi paquete", "Quiero que me devuelvan el dinero", "número"),
    "zh_CN": ("我的包裹在哪里", "我要退款", "编号"),
    "zh_TW": ("我的包裹在哪裡", "我要退款", "編號"),
    "ja": ("荷物はどこですか", "返金してください", "番号"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_is_trained_and_answered(owner, language):
    """A small dataset of each language trains, keeps its language, and separates its intents."""
    parcel, money, word = LANGUAGES[language]
    rows = [(f"{parcel} {word} {n}", "parcel") for n in range(6)]
    rows += [(f"{money} {word} {n}", "money") for n in range(6)]
    dataset = owner.upload(csv_file(rows), call="upload/sync", language=language)
    model_id = owner.model(dataset["id"], language)

    assert dataset["language"] == language
    assert owner.get(f"{LANGUAGE}/train/{model_id}").ok["language"] == language
    assert owner.best(model_id, f"{parcel}?") == "parcel"
    assert owner.best(model_id, f"{money}!") == "money"
