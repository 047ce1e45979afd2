"""Training and model records of images equal the contract's examples, member for member."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from chalicelib.domain.common.paging import ListPage
from chalicelib.domain.models.model import Model, ModelView, TrainRequest, TrainStats
from chalicelib.web.http.paging import Window, list_answer
from chalicelib.web.records import describe

EXAMPLES = Path(__file__).parent / "examples"
BEGUN = datetime(2024, 3, 4, 10, 20, tzinfo=UTC)
WHEELS = TrainRequest(epochs=3, learning_rate=0.0001, params={"trainSplitRatio": 0.9})


def _pairs(text: str) -> Any:
    """Decode JSON with the order of members kept comparable, and 1 distinct from 1.0."""
    return json.loads(text, object_pairs_hook=tuple, parse_float=lambda number: ("float", number))


def _same(name: str, record: object) -> None:
    """Compare a record with an example."""
    expected = (EXAMPLES / f"{name}.json").read_text()
    assert _pairs(msgspec.json.encode(record).decode()) == _pairs(expected)


def _model(model_id: str, status: str, seconds: int = 0, **members: Any) -> Model:
    """Return the facts behind an example."""
    given: dict[str, Any] = {
        "name": "Two wheelers v1",
        "dataset_id": 1004301,
        "type": "image",
        "progress": 0.0,
        "request": WHEELS,
        **members,
    }
    return Model(
        account_id="2",
        model_id=model_id,
        family="vision",
        language="N/A",
        status=status,
        created_at=BEGUN,
        updated_at=BEGUN + timedelta(seconds=seconds),
        **given,
    )


def test_queued() -> None:
    """An image training shows the epochs and learning rate that it uses."""
    model = _model("W6MKXZXBWEYY5Y3LBXFT7OPE2M", "QUEUED")

    _same("training_queued_vision", describe.training(ModelView(model, 1)))


def test_queued_detection() -> None:
    """A detection training shows 20 epochs and, when none was sent, a learning rate of 0."""
    model = _model(
        "GM4LSNQRAAGBFPVEDPGX5GWYYE",
        "QUEUED",
        name="Shelf v1",
        dataset_id=1004303,
        type="image-detection",
        request=TrainRequest(algorithm="retail-execution"),
    )

    _same("training_queued_detection", describe.training(ModelView(model, 1)))


def test_running() -> None:
    """A running training keeps showing the configured epochs, not those done so far."""
    model = _model("W6MKXZXBWEYY5Y3LBXFT7OPE2M", "RUNNING", 30, progress=0.66, epochs=1)

    _same("training_running_vision", describe.training(ModelView(model)))


def test_succeeded() -> None:
    """A finished training has its statistics."""
    stats = TrainStats(2, 118, 41.22, 40.105, 0.31, 0.805, False, 3, 106, 12)
    model = _model("W6MKXZXBWEYY5Y3LBXFT7OPE2M", "SUCCEEDED", 41, progress=1.0, stats=stats)

    _same("training_succeeded_vision", describe.training(ModelView(model)))


def test_models_in_a_list() -> None:
    """Models in lists omit the members that only a training has; a failed one has its cause."""
    failure = json.loads((EXAMPLES / "model_list_vision.json").read_text())["data"][0]["failureMsg"]
    models = (
        _model("TK6N4PCYIYUKAJRAX54W33QSAQ", "FAILED", 41, name="Two wheelers v0", failure=failure),
        _model("W6MKXZXBWEYY5Y3LBXFT7OPE2M", "SUCCEEDED", 41, progress=1.0),
    )
    page = list_answer(ListPage(models, 0, has_more=False), describe.model, Window(0, 100))

    _same("model_list_vision", page.record)


@pytest.mark.parametrize(
    ("kind", "sent", "epochs", "rate"),
    [
        ("image", TrainRequest(), 30, 0.001),
        ("image-multi-label", TrainRequest(), 30, 0.001),
        ("image-detection", TrainRequest(algorithm="object-detection"), 20, 0),
        ("image", TrainRequest(epochs=7, learning_rate=0.01), 7, 0.01),
        (
            "image-detection",
            TrainRequest(epochs=7, learning_rate=0.01, algorithm="retail-execution"),
            7,
            0.01,
        ),
    ],
)
def test_defaults(kind: str, sent: TrainRequest, epochs: int, rate: float) -> None:
    """Parameters that were not sent are shown as their defaults; a rate of 0 is an integer."""
    record = describe.training(ModelView(_model("M", "QUEUED", type=kind, request=sent), 1))

    assert (record.epochs, record.learning_rate) == (epochs, rate)
    assert isinstance(record.learning_rate, int) == (rate == 0)
    assert (record.algorithm is msgspec.UNSET) == (kind != "image-detection")
