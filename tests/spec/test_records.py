"""Each record equals the contract's example for the same facts: members, order, formats."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import Usage
from chalicelib.domain.common.paging import ListPage
from chalicelib.domain.datasets.dataset import Dataset, DatasetView, Label, LabelCounts
from chalicelib.domain.datasets.example import Example, ExampleView
from chalicelib.domain.datasets.receipt import Receipt, RejectedItem
from chalicelib.domain.datasets.upload_format import UploadWarning
from chalicelib.domain.jobs.deletion import Deletion
from chalicelib.domain.models.model import Model, ModelView, TrainRequest, TrainStats
from chalicelib.domain.models.prediction import Probability
from chalicelib.errors import (
    DatasetInTraining,
    DatasetNotFound,
    DatasetNotYetAvailable,
    InvalidScheme,
    InvalidToken,
    StorageUnavailable,
)
from chalicelib.web.http.paging import Window, list_answer
from chalicelib.web.http.responses import ErrorRecord, error_response, rate_limit_headers
from chalicelib.web.operations.files import NO_SOURCE
from chalicelib.web.records import describe, model_records, service_records

EXAMPLES = Path(__file__).parent / "examples"
DAY = datetime(2024, 3, 4, tzinfo=UTC)


def at(hour: int, minute: int, second: int = 0) -> datetime:
    """Return a time on the date of the examples."""
    return DAY + timedelta(hours=hour, minutes=minute, seconds=second)


def pairs(text: str) -> Any:
    """Decode JSON into pairs that keep the order of members and distinguish 1 from 1.0."""
    return json.loads(text, object_pairs_hook=tuple, parse_float=lambda number: ("float", number))


def same(name: str, record: object) -> None:
    """Assert that a record equals an example, including the types of numbers."""
    expected = (EXAMPLES / f"{name}.json").read_text()
    assert pairs(msgspec.json.encode(record).decode()) == pairs(expected)


def dataset(name: str) -> DatasetView:
    """Rebuild the facts behind an example of a dataset."""
    data = json.loads((EXAMPLES / f"{name}.json").read_text())
    labels = [
        Label(x["id"], x["datasetId"], x["name"], x["numExamples"])
        for x in data["labelSummary"]["labels"]
    ]
    status, _, message = data["statusMsg"].partition(": ")
    row = Dataset(
        account_id="2",
        family="language" if data["type"].startswith("text") else "vision",
        dataset_id=data["id"],
        name=data["name"],
        type=data["type"],
        language=data["language"],
        status=status,
        message=message,
        available=data["available"],
        created_at=at(10, 15),
        updated_at=at(10, 15, 9),
        counts=tuple(LabelCounts(label.label_id, label.examples) for label in labels),
        duplicates=data["numOfDuplicates"],
    )
    return DatasetView(row, tuple(labels))


@pytest.mark.parametrize(
    "name",
    [
        "dataset_succeeded_language",
        "dataset_uploading_language",
        "dataset_deletion_pending",
        "dataset_failed_vision",
        "dataset_created_empty_vision",
    ],
)
def test_datasets(name):
    """A dataset in each of its states."""
    same(name, describe.dataset(dataset(name)))


@pytest.mark.parametrize("name", ["dataset_list", "dataset_list_global", "list_empty"])
def test_dataset_lists(name, tmp_path):
    """A list wraps its records."""
    expected = json.loads((EXAMPLES / f"{name}.json").read_text())
    answer = list_answer(
        ListPage(tuple(expected["data"]), 0, has_more=False), lambda record: record, Window(0, 25)
    )

    same(name, answer.record)


EXAMPLE = ExampleView(
    Example(880201, "where is my parcel", at(10, 16, 4), 7202),
    Label(7202, 1004302, "delivery-date", 31),
    "where is my parcel",
)


def test_examples():
    """The text is in `name` and `location`, alone and in a list."""
    same("example_language", describe.example(EXAMPLE))
    page = list_answer(ListPage((EXAMPLE,), 0, has_more=False), describe.example, Window(0, 100))
    same("example_list_language", page.record)


INTENT = Model(
    account_id="2",
    model_id="7JYVH57NDS3MB7HS76ZPVQQXJA",
    name="Shop intents v1",
    dataset_id=1004302,
    family="language",
    type="text-intent",
    language="en_US",
    status="QUEUED",
    progress=0.0,
    created_at=at(10, 20),
    updated_at=at(10, 20),
    request=TrainRequest(algorithm="intent"),
)


def test_queued_training():
    """Progress and learning rate are 0, not 0.0; members are null or absent as in the contract."""
    same("training_queued_intent", describe.training(ModelView(INTENT, 1)))


def test_succeeded_training():
    """A finished training has its statistics, durations as HH:MM:SS:mmm."""
    stats = TrainStats(3, 74, 41.22, 40.105, 0.31, 0.805, True, 22, 59, 15)
    model = replace(
        INTENT,
        model_id="77AGM4QKEIA4URPUNVYUF7LWV4",
        name="Shop intents, out of domain",
        status="SUCCEEDED",
        progress=1.0,
        updated_at=at(10, 21, 41),
        request=TrainRequest(
            algorithm="multilingual-intent-ood",
            params={"withFeedback": True},
            learning_rate=0.005,
        ),
        epochs=22,
        stats=stats,
    )

    same("training_succeeded_intent_ood", describe.training(ModelView(model)))


def test_failed_and_running_training():
    """Vision models have no algorithm; a failure has its cause; a progress of 0.66 stays 0.66."""
    text = (EXAMPLES / "training_failed_vision.json").read_text()
    failed = replace(
        INTENT,
        model_id="E2JU5M3XAAPWNY3SRGS4SP7CQQ",
        name="Fruit v1",
        dataset_id=1004306,
        family="vision",
        type="image",
        language="N/A",
        status="FAILED",
        updated_at=at(10, 21, 10),
        request=TrainRequest(learning_rate=0.001),
        epochs=30,
        failure=json.loads(text)["failureMsg"],
    )
    same("training_failed_vision", describe.training(ModelView(failed)))
    assert describe.training(ModelView(replace(failed, progress=0.66))).progress == 0.66


def test_models_in_lists():
    """Models in lists omit the members that only a training has."""
    model = replace(INTENT, status="SUCCEEDED", progress=1.0, updated_at=at(10, 20, 41))
    page = list_answer(ListPage((model,), 0, has_more=False), describe.model, Window(0, 100))

    same("model_list_language", page.record)


@pytest.mark.parametrize("name", ["metrics_intent", "metrics_intent_ood"])
def test_metrics(name):
    """Metrics are returned as they were stored."""
    expected = json.loads((EXAMPLES / f"{name}.json").read_text())
    model = replace(
        INTENT,
        model_id=expected["id"],
        request=TrainRequest(algorithm=expected["algorithm"]),
    )

    same(name, describe.metrics(model, at(10, 21, 41), expected["metricsData"]))


@pytest.mark.parametrize("name", ["learningcurve_intent", "card_intent", "health"])
def test_stored_records_fit_their_declaration(name):
    """Stored records fit the types declared in the OpenAPI document."""
    expected = json.loads((EXAMPLES / f"{name}.json").read_text())
    kinds = {
        "learningcurve_intent": model_records.LearningCurveRecord,
        "card_intent": model_records.CardRecord,
        "health": service_records.HealthRecord,
    }

    for record in expected.get("data", [expected]):
        assert msgspec.to_builtins(msgspec.convert(record, kinds[name])) == record


@pytest.mark.parametrize(
    ("name", "items", "sample_id"),
    [
        (
            "intent",
            [("delivery-date", 0.9412), ("refund", 0.0397), ("cancel-order", 0.0191)],
            UNSET,
        ),
        ("intent_ood_empty", [], UNSET),
        ("sentiment", [("positive", 0.9127), ("neutral", 0.0611), ("negative", 0.0262)], "t-1"),
    ],
)
def test_predictions(name, items, sample_id):
    """`sampleId` is present only if it was sent."""
    probabilities = [Probability(label, probability) for label, probability in items]

    same(name, describe.prediction(probabilities, sample_id))


DELETION = Deletion("TFEMMROASQSHPFHUY6WNX2ZLWY", "2", "DATASET", "1004301")
MODEL_ID = "W6MKXZXBWEYY5Y3LBXFT7OPE2M"


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("deletion_queued_dataset", DELETION),
        ("deletion_running_dataset", replace(DELETION, status="RUNNING", progress=0.4)),
        (
            "deletion_succeeded_waiting_cache",
            replace(DELETION, status="SUCCEEDED_WAITING_FOR_CACHE_REMOVAL", progress=1.0),
        ),
        (
            "deletion_succeeded_model",
            Deletion("WJNQMUPEW3UIPZIZIE25G2JGGE", "2", "MODEL", MODEL_ID, "SUCCEEDED", 1.0),
        ),
    ],
)
def test_deletions(name, row):
    """A deletion in each of its states."""
    same(name, describe.deletion(row))


def test_receipts():
    """A receipt names row or file of each rejection, then the reason."""
    rejected = (
        RejectedItem("Not a PNG or JPEG image.", file="bicycle/notes.txt"),
        RejectedItem("The image is truncated.", file="scooter/s-31.jpg"),
        RejectedItem("1310720 bytes; at most 1048576 (1 MB) are allowed.", file="scooter/s-44.jpg"),
    )
    row = Receipt(
        "TZ2AIZZVHQ3WJXTRF5P4D6WKDA",
        1004301,
        at(10, 15, 9),
        "SUCCEEDED",
        None,
        *(123, 118, 2, 3),
        rejected,
        (
            UploadWarning(
                "fewExamples",
                "Labels have fewer than 5 examples: 'scooter: 3'.",
                1,
                ("scooter: 3",),
            ),
        ),
    )
    page = list_answer(ListPage((row,), 0, has_more=False), describe.receipt, Window(0, 25))

    same("receipt_list", page.record)


MONTH = Usage(2000, 10, datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 4, 1, tzinfo=UTC))


def test_usage_and_headers():
    """The usage record and the rate-limit headers show the same figures."""
    caller = Account(
        account_id="108",
        email="ann@example.com",
        plan="STARTER",
        source="SALESFORCE",
        status="ACTIVE",
        keys=(),
        license_id="kQ2mTzXwPa",
        created_at=MONTH.starts_at,
    )

    def described(month: Usage) -> service_records.UsageRecord:
        # The id of the example is that of another service.
        return msgspec.structs.replace(describe.usage(caller, month), id="489")

    page = list_answer(ListPage((MONTH,), 0, has_more=False), described, Window(0, 1))

    same("apiusage", page.record)
    same("rate_limit_headers", rate_limit_headers(MONTH))


@pytest.mark.parametrize(
    ("name", "refresh", "seconds"),
    [
        ("token_access", UNSET, 900),
        ("token_from_refresh", UNSET, 60),
        ("token_offline", "<JWT without exp>", 900),
    ],
)
def test_tokens(name, refresh, seconds):
    """A token has exactly the documented members; the refresh token only if it was requested."""
    same(name, service_records.TokenRecord("<JWT>", refresh, "Bearer", seconds))


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("error_400_busy", DatasetNotYetAvailable()),
        ("error_401_expired", InvalidToken()),
        ("error_401_scheme", InvalidScheme()),
        ("error_404_dataset", DatasetNotFound(1004999)),
        ("error_409_dataset_in_training", DatasetInTraining(1004301, MODEL_ID, "RUNNING")),
        ("error_503", StorageUnavailable()),
    ],
)
def test_errors(name, error):
    """Error messages and codes are as documented."""
    expected = (EXAMPLES / f"{name}.json").read_text()

    assert pairs(error_response(error).body) == pairs(expected)


def test_error_without_source():
    """The documented text of an upload without a source."""
    same("error_400_no_source", ErrorRecord(NO_SOURCE, "missing_parameter"))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "00:00:00:000"),
        (0.0004, "00:00:00:000"),
        (59.9996, "00:01:00:000"),
        (360_000, "100:00:00:000"),
    ],
)
def test_durations(seconds, text):
    """Durations are HH:MM:SS:mmm and are rounded once."""
    assert describe.duration(seconds) == text


@pytest.mark.parametrize("value", [0, 0.0, 1.0, 0.5, True])
def test_progress(value):
    """0 and 1 are integers, anything between is a fraction."""
    assert msgspec.json.encode(describe.fraction(value)) in (b"0", b"1", b"0.5")
