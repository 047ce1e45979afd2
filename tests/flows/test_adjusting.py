"""Adjustments of text models to the user's own texts, over HTTP."""

from __future__ import annotations

import csv
import io

import pytest

from tests.flows.client import LANGUAGE, Client
from tests.flows.world import World, weather

GREETINGS = [f"hello my friend number {number}, how are you doing" for number in range(12)]


@pytest.fixture(scope="module")
def caller(world: World) -> Client:
    """A caller with models."""
    return world.caller("GOLD")


@pytest.fixture(scope="module")
def model(caller: Client) -> str:
    """A model that rejects out-of-domain texts."""
    dataset = caller.dataset(weather())
    return caller.model(int(dataset["id"]), "weather", trainParams='{"outOfDomainRate": 0.1}')


@pytest.fixture(scope="module")
def plain_model(caller: Client) -> str:
    """A model that returns a label for every text."""
    return caller.model(int(caller.dataset(weather())["id"]), "plain")


def examples() -> list[tuple[str, str]]:
    """Return texts with labels of the models."""
    return [
        (row[0], row[1]) for row in csv.reader(io.StringIO(weather().decode())) if len(row) == 2
    ]


def table(rows: list[tuple[str, str]]) -> bytes:
    """Return texts and labels as a csv file."""
    file = io.StringIO()
    csv.writer(file).writerows([("text", "label"), *rows])
    return file.getvalue().encode()


def adjust(caller: Client, model: str, content: bytes, **fields: object):
    """Ask for an adjustment."""
    path = f"{LANGUAGE}/models/{model}/adjust"
    return caller.multipart("POST", path, fields, {"data": ("users.csv", content)})


def test_labelled_and_unlabelled_texts_make_a_version(caller, model):
    """The adjusted version is served; its card has counts, rates and the 50 nearest texts."""
    rows = examples()
    sent = [(f"{text} please", label) for text, label in rows[:30]]
    sent += [(text, "out-of-domain") for text in GREETINGS]
    sent += [(f"tell me: {text}", "") for text, _ in rows for _ in range(3)][:210]

    queued = adjust(caller, model, table(sent), outOfDomainRate=0.05).ok
    assert (queued["status"], queued["epochs"]) == ("QUEUED", 0)
    caller.wait_model(model)

    card = caller.get(f"{LANGUAGE}/models/{model}/card").ok["adjustment"]
    assert (card["labelled"], card["outOfDomain"], card["unlabelled"]) == (30, 12, len(sent) - 42)
    assert card["outOfDomainRate"] == 0.05
    for part in ("rejectedBefore", "rejectedAfter"):
        assert 0 <= card[part]["low"] <= card[part]["value"] <= card[part]["high"] <= 1
    assert len(card["nearest"]) == 50
    assert set(card["nearest"][0]) == {"text", "label", "isRejected"}
    versions = caller.get(f"{LANGUAGE}/models/{model}/versions").ok["data"]
    assert [(one["version"], one["isServed"]) for one in versions] == [(2, True), (1, False)]
    curve = caller.get(f"{LANGUAGE}/models/{model}/lc").ok["data"]
    assert curve == caller.get(f"{LANGUAGE}/models/{model}/lc", modelVersion=1).ok["data"] != []
    first = caller.get(f"{LANGUAGE}/models/{model}/card", modelVersion=1).ok
    assert "adjustment" not in first


def test_training_again_starts_without_the_adjustment(caller, model):
    """After a retraining the card says that the adjustment is not included."""
    asked = {"modelId": model, "trainParams": '{"outOfDomainRate": 0.1}'}
    assert caller.multipart("POST", f"{LANGUAGE}/retrain", asked).status == 200
    caller.wait_model(model)

    card = caller.get(f"{LANGUAGE}/models/{model}/card").ok
    assert card["adjustment"] == {"startedWithout": 2}


def test_model_that_never_rejects_takes_labelled_texts_only(caller, plain_model):
    """Labelled texts set its temperature; a rate, marked or unlabelled texts are refused."""
    rows = examples()
    for content, fields in (
        (table(rows[:30]), {"outOfDomainRate": 0.05}),
        (table([*rows[:30], (GREETINGS[0], "out-of-domain")]), {}),
        (table([*rows[:30], (GREETINGS[0], "")]), {}),
    ):
        refused = adjust(caller, plain_model, content, **fields)
        assert (refused.status, refused.data["code"]) == (400, "cannot_reject")
        assert "outOfDomainRate" in refused.data["message"]

    assert adjust(caller, plain_model, table(rows[:30])).status == 200
    caller.wait_model(plain_model)

    card = caller.get(f"{LANGUAGE}/models/{plain_model}/card").ok["adjustment"]
    assert set(card) == {"labelled", "outOfDomain", "unlabelled", "temperatureFactor"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (table(examples()[:5]), "5 texts with and 0 without"),
        (table([(text, "nowhere") for text in GREETINGS]), "'nowhere'"),
        (table([(f"text {n}", "") for n in range(20_001)]), "20,000"),
        (b"text,label\n", "no line"),
    ],
)
def test_unusable_texts_are_refused(caller, model, content, words):
    """Too few, too many or unknown labels are a 400 that names the limit and the remedy."""
    refused = adjust(caller, model, content)

    assert refused.status == 400
    assert words in refused.data["message"]


def test_other_models_and_accounts_are_refused(world, caller, model):
    """Prebuilt models cannot be adjusted; models of other accounts are a 404."""
    content = table(examples()[:30])
    assert adjust(caller, "GlobalIntentModel", content).status == 400
    with world.caller() as stranger:
        assert adjust(stranger, model, content).status == 404


def test_dataset_and_json_are_sources(world, caller, model):
    """A JSON body may name a dataset, whose uploads are used with their labels."""
    dataset = caller.dataset(weather())
    path = f"{LANGUAGE}/models/{model}/adjust"
    with world.stack.workers_paused():
        sent = [caller.json("POST", path, {"datasetId": int(dataset["id"])}) for _ in range(2)]
    caller.wait_model(model)

    assert [answer.status for answer in sent] == [200, 409]
    card = caller.get(f"{LANGUAGE}/models/{model}/card").ok["adjustment"]
    assert card["labelled"] == int(dataset["totalExamples"])
    # Their deletion with the dataset would not find them on the card.
    assert card["nearest"] == []


def test_file_without_header_is_read(caller, model):
    """A first row whose second cell is a label of the model is data."""
    rows = examples()[:30]
    content = table(rows).split(b"\n", 1)[1]

    assert adjust(caller, model, content).status == 200
    caller.wait_model(model)

    assert caller.get(f"{LANGUAGE}/models/{model}/card").ok["adjustment"]["labelled"] == 30


def test_feedback_is_used_if_the_call_asks(caller, model):
    """JSON and form accept `withFeedback`; the card contains no feedback text."""
    dataset = int(caller.dataset(weather())["id"])
    text, label = examples()[0]
    added = {"modelId": model, "document": f"{text} then", "expectedLabel": label}
    assert caller.multipart("POST", f"{LANGUAGE}/feedback", added).status == 200
    refused = adjust(caller, model, table(examples()[:30]), withFeedback="perhaps")
    assert (refused.status, "withFeedback" in refused.data["message"]) == (400, True)
    path = f"{LANGUAGE}/models/{model}/adjust"
    sends = (
        (30, lambda: adjust(caller, model, table(examples()[:30]), withFeedback="true")),
        (0, lambda: caller.json("POST", path, {"datasetId": dataset, "withFeedback": True})),
    )
    for shown, send in sends:
        assert send().status == 200
        caller.wait_model(model)
        card = caller.get(f"{LANGUAGE}/models/{model}/card").ok["adjustment"]
        assert (card["feedback"], len(card["nearest"])) == (1, shown)


def test_texts_of_another_language_leave_the_threshold_usable(caller, model):
    """Unlabelled texts in another script do not raise the threshold above the model's own texts."""
    streets = ("长安街", "南京路", "人民路", "解放路")
    foreign = [(f"请问{street}{n}号的图书馆几点开门", "") for n in range(60) for street in streets]

    assert adjust(caller, model, table(foreign), outOfDomainRate=0.05).status == 200
    caller.wait_model(model)

    card = caller.get(f"{LANGUAGE}/models/{model}/card").ok["adjustment"]
    assert (card["labelled"], card["unlabelled"]) == (0, 240)
    answers = [
        caller.json("POST", f"{LANGUAGE}/intent", {"modelId": model, "document": text}).ok
        for text, _ in examples()[:20]
    ]
    kept = [answer["probabilities"][0]["label"] != "out-of-domain" for answer in answers]
    assert sum(kept) >= 15, answers
