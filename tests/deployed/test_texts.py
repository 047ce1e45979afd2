"""Texts: uploaded, read by the queue's function, trained by another, asked, deleted by a third."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.errors import DatasetNotFound, MissingParameter, ModelNotFound
from tests.deployed.client import SECONDS, StageClient, refused
from tests.flows.client import LANGUAGE, VISION
from tests.flows.test_batches import answered, single
from tests.flows.test_exports import fetched
from tests.flows.test_rankings import check_ranking
from tests.flows.test_repeats import repeated
from tests.flows.test_webhooks import refused_addresses, wait_for_event
from tests.flows.world import weather
from tests.receiver import Receiver

QUESTION = "will it rain tomorrow"


@pytest.fixture(scope="module")
def dataset(client: StageClient) -> dict[str, Any]:
    """A dataset of weather.csv, sent as multipart, read through SQS."""
    return client.dataset(weather())


@pytest.fixture(scope="module")
def model_id(client: StageClient, dataset: dict[str, Any]) -> str:
    """A model of it, trained by the queue's function."""
    return client.model(dataset["id"], "weather")


def used(client: StageClient) -> int:
    """Predictions of the month."""
    return int(client.get("/v2/apiusage").ok["data"][0]["predictionsUsed"])


def test_file_is_read_by_the_queue(client: StageClient, dataset: dict[str, Any]):
    """The dataset becomes available with every text, and its receipt adds up."""
    assert (dataset["available"], dataset["statusMsg"]) == (True, "SUCCEEDED")
    labels = {label["name"]: label["numExamples"] for label in dataset["labelSummary"]["labels"]}
    assert sum(labels.values()) == dataset["totalExamples"] > 60
    [receipt] = client.get(f"{LANGUAGE}/datasets/{dataset['id']}/receipts").ok["data"]
    assert receipt["kept"] == dataset["totalExamples"]


def test_pages_are_linked(client: StageClient, dataset: dict[str, Any]):
    """A long list continues at the service's next-page link, on the host that was called."""
    path = f"{LANGUAGE}/datasets/{dataset['id']}/examples"
    first = client.get(path, count=25)

    assert len(first.ok["data"]) == 25
    assert first.headers["link"].startswith(f"<{'/'.join(client.url.split('/')[:3])}/")


def test_training_is_done_by_the_queue(client: StageClient, model_id: str):
    """It ends in success with metrics, learning curve and card, read from the bucket."""
    assert client.get(f"{LANGUAGE}/train/{model_id}").ok["progress"] == 1
    metrics = client.get(f"{LANGUAGE}/models/{model_id}").ok["metricsData"]
    assert metrics["testAccuracy"] > 0.5
    assert client.get(f"{LANGUAGE}/models/{model_id}/lc").ok["data"]
    assert client.get(f"{LANGUAGE}/models/{model_id}/card").ok["modelId"] == model_id


def test_json_and_form_give_the_same(client: StageClient, model_id: str):
    """JSON and form give the same prediction, each counted once."""
    before = used(client)
    by_json = client.predict(model_id, QUESTION).ok
    fields = {"modelId": model_id, "document": QUESTION}
    by_form = client.multipart("POST", f"{LANGUAGE}/intent", fields).ok

    assert by_json == by_form
    assert by_json["probabilities"][0]["label"] == "five-day-forecast"
    assert used(client) == before + 2
    refused(client.predict(model_id, ""), MissingParameter)
    assert used(client) == before + 2


def test_shipped_sentiment_model(client: StageClient):
    """The prebuilt text model answers, its artifact read from the bucket."""
    assert client.best("CommunitySentiment", "what a lovely day", "sentiment") == "positive"


def test_export_is_written_by_the_queue(client: StageClient, dataset: dict[str, Any]):
    """The file is in the bucket, at a URL that returns every text with its label."""
    path = f"{LANGUAGE}/datasets/{dataset['id']}"
    name, content = fetched(client, path, format="csv")

    assert name.endswith(".csv")
    assert content.count(b"\n") >= dataset["totalExamples"]


def test_batch_is_answered_by_the_queue(client: StageClient, model_id: str):
    """Each line says what the single call says, and is counted once."""
    before, single_call = used(client), client.predict(model_id, QUESTION)
    record, [line, bad] = answered(
        client, LANGUAGE, "t.csv", f"id,text\na,{QUESTION}\nb,\n".encode(), modelId=model_id
    )
    assert line == single("a", single_call.body)
    assert b'"missing_parameter"' in bad
    assert record["counts"] == {"total": 2, "done": 2, "failed": 1}
    # Unanswered predictions are released after the result is shown.
    client.wait("/v2/apiusage", lambda _: used(client) == before + 2, SECONDS)


def test_ranking_is_made_by_the_queue(client: StageClient, model_id: str):
    """What to label next: the lines are judged in parts, and the best are chosen."""
    check_ranking(client, model_id)


def test_a_repeated_call_makes_one_dataset(client: StageClient):
    """The key passes the gateway, and so does the header that reports the repetition."""
    made = repeated(client, "stage-1")

    assert client.delete(f"{LANGUAGE}/datasets/{made}").status == 200


def test_the_queue_calls_a_receiver(client: StageClient, receiver: Receiver) -> None:
    """A webhook is delivered once, signed, and its delivery is listed."""
    assert wait_for_event(client, receiver, "dataset.ready", SECONDS)["family"] == "language"


def test_private_addresses_are_refused(client: StageClient):
    """A webhook URL in the functions' network is refused."""
    refused_addresses(client)


def test_another_account_sees_nothing(
    new_client: Callable[..., StageClient], dataset: dict[str, Any], model_id: str
):
    """Datasets and models of one account are unknown to another."""
    stranger = new_client()

    refused(stranger.get(f"{LANGUAGE}/datasets/{dataset['id']}"), DatasetNotFound)
    refused(stranger.predict(model_id, QUESTION), ModelNotFound)


def test_deletion_is_done_by_the_queue(new_client: Callable[..., StageClient]):
    """A deletion ends by the queue's function, and nothing of the dataset is there any more."""
    owner = new_client()
    made = owner.dataset(b"a first text,one\na second text,two\n")
    path = f"{LANGUAGE}/datasets/{made['id']}"
    record = owner.delete(path).ok

    ended = owner.wait_deletion(record["id"])[-1]
    refused(owner.get(path), DatasetNotFound)
    assert (ended["progress"], ended["deletedObjectId"]) == (1, str(made["id"]))


def test_family_is_kept_apart(client: StageClient, dataset: dict[str, Any]):
    """A text dataset is a 404 below /vision."""
    refused(client.get(f"{VISION}/datasets/{dataset['id']}"), DatasetNotFound)
