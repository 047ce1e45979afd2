"""Tests of the client's calls against a service that answers as a test says."""

from __future__ import annotations

import inspect
import json
import re
import typing
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import msgspec
import pytest
from presage import (
    BadRequestError,
    ConflictError,
    Detection,
    JobFailedError,
    Presage,
    UnreachableError,
    _sources,
    records,
)
from presage._sync.models import Model

from chalicelib.routes.datasets.uploads import AddForm, PictureUploadForm, UploadForm
from chalicelib.routes.models.training import TrainParams
from chalicelib.routes.predictions.batches import BatchForm, PictureBatchForm
from chalicelib.routes.predictions.documents import OcrForm

WHEN = "2026-11-21T09:30:00.000+0000"
DATASET = {"id": 7, "name": "t", "createdAt": WHEN, "updatedAt": WHEN, "totalExamples": 0}
DATASET |= {"labelSummary": {"labels": []}, "totalLabels": 0, "available": False}
DATASET |= {"type": "text-intent", "language": "en_US", "numOfDuplicates": 0, "object": "dataset"}
LISTED = {"datasetId": 7, "datasetVersionId": 1, "name": "m", "status": "SUCCEEDED", "progress": 1}
LISTED |= {"createdAt": WHEN, "updatedAt": WHEN, "object": "model", "modelId": "A" * 26}
LISTED |= {"modelType": "text-intent", "language": "en_US"}
DELETION = {"id": "D", "organizationId": "O", "type": "DATASET", "status": "QUEUED", "progress": 0}
DELETION |= {"message": None, "object": "deletion", "deletedObjectId": "7"}
Answer = Callable[[httpx.Request], httpx.Response]


class Service:
    """A client, and a service that a test gives answers to."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.calls: list[str] = []
        transport = httpx.MockTransport(self._answer)
        self.client = Presage("http://service", token="t", http={"transport": transport})

    def _answer(self, request: httpx.Request) -> httpx.Response:
        request.read()
        call = f"{request.method} {request.url.path.removeprefix('/v2')}"
        self.calls.append(call)
        answer = self.answers[call]
        if isinstance(answer, list):
            answer = answer.pop(0)
        if isinstance(answer, Exception):
            raise answer
        status, members = answer if isinstance(answer, tuple) else (200, answer)
        headers = {"x-amzn-RequestId": f"id-{len(self.calls)}"}
        return httpx.Response(status, json=members, headers=headers)


@pytest.fixture
def service() -> Iterator[Service]:
    """Return a service without answers."""
    made = Service()
    with made.client:
        yield made


@pytest.fixture
def failing(service: Service) -> Service:
    """Return a service whose uploads fail."""
    service.answers = {
        "POST /language/datasets/upload": {**DATASET, "statusMsg": "UPLOADING"},
        "GET /language/datasets/7": {**DATASET, "statusMsg": "FAILED: It has one column."},
        "DELETE /language/datasets/7": DELETION,
    }
    return service


def test_failed_uploads_have_code_and_request_id(failing: Service) -> None:
    """The error names what failed and the call that began it; the dataset remains by default."""
    with pytest.raises(JobFailedError, match=r"^It has one column\.$") as caught:
        failing.client.language.datasets.upload(b"x", type="text-intent", progress=False)
    assert (caught.value.code, caught.value.request_id) == ("upload_failed", "id-1")
    assert not any(call.startswith("DELETE") for call in failing.calls)


def test_failed_uploads_leave_nothing_if_asked(failing: Service) -> None:
    """With `keep_failed=False` the failed dataset is deleted, and the error is the same."""
    upload = failing.client.language.datasets.upload
    with pytest.raises(JobFailedError, match=r"^It has one column\.$"):
        upload(b"x", type="text-intent", keep_failed=False, progress=False)
    assert failing.calls[-1] == "DELETE /language/datasets/7"

    failing.calls.clear()
    with pytest.raises(ValueError, match="needs wait=True"):
        upload(b"x", type="text-intent", keep_failed=False, wait=False)
    assert failing.calls == []


def test_failed_deletions_of_failed_uploads_are_reported(failing: Service) -> None:
    """The error says why the upload failed and that the dataset remains."""
    failing.answers["DELETE /language/datasets/7"] = 409, {"message": "In training."}
    with pytest.raises(JobFailedError, match=r"one column\. The dataset 7 could not be deleted"):
        failing.client.language.datasets.upload(b"x", keep_failed=False, progress=False)


def test_documents_are_read_again_after_a_broken_connection(service: Service) -> None:
    """Reading a document changes and counts nothing, so it is retried; a prediction is not."""
    text = {"task": "text", "probabilities": [], "object": "predictresponse"}
    service.answers["POST /vision/ocr"] = [httpx.ReadError("x"), (503, {"message": "x"}), text]
    assert service.client.vision.ocr(b"%PDF-1.7").task == "text"
    assert len(service.calls) == 3

    service.answers["POST /vision/predict"] = [httpx.ReadError("x")]
    with pytest.raises(UnreachableError):
        service.client.vision.predict("A", "http://there/a.png")


def test_refusals_of_documents_are_not_retried(service: Service) -> None:
    """A 409 is the answer to a document, which has no idempotency key."""
    service.answers["POST /vision/ocr"] = [(409, {"message": "x"})]
    with pytest.raises(ConflictError):
        service.client.vision.ocr(b"%PDF-1.7")
    assert len(service.calls) == 1


def test_listed_models_have_the_methods_of_fetched_ones(service: Service) -> None:
    """`list` and `get` return one class, bound to the family of the model's type."""
    detecting = {**LISTED, "modelType": "image-detection", "modelId": "B" * 26}
    training = {**LISTED, "learningRate": 0.1, "epochs": 3, "trainParams": None, "trainStats": None}
    found = {"label": "cat", "probability": 0.9}
    box = {"boundingBox": {"minX": 1, "minY": 1, "maxX": 2, "maxY": 2}}
    service.answers = {
        "GET /language/models": {"object": "list", "data": [LISTED, detecting]},
        f"GET /language/train/{'A' * 26}": training,
        "POST /language/intent": {"probabilities": [found]},
        "POST /vision/detect": {"probabilities": [{**found, **box}]},
    }
    texts, boxes = service.client.language.models.list()

    assert type(texts) is type(service.client.language.models.get(texts.model_id)) is Model
    assert (texts.epochs, texts.refresh().epochs) == (None, 3)
    assert texts.predict("a").label == "cat"
    assert [item.label for item in boxes.predict(["http://there/a.png"] * 2)] == ["cat"] * 2
    assert isinstance(boxes.predict("http://there/a.png"), Detection)
    assert service.calls.count("POST /vision/detect") == 3


def test_models_have_every_member_of_trainings() -> None:
    """A fetched model has the members of the service's records of models and of trainings."""
    names = {item.name for item in msgspec.structs.fields(Model)}
    assert names == {
        item.name
        for kind in (records.Model, records.Training)
        for item in msgspec.structs.fields(kind)
    }


UNKNOWN: list[Callable[[Presage], object]] = [
    lambda client: client.language.datasets.upload(b"x", label_colum="a"),
    lambda client: client.language.datasets.check(b"x", label_colum="a"),
    lambda client: client.language.datasets.add(7, b"x", label_colum="a"),
    lambda client: client.language.models.train(7, "a", profil="fast"),
    lambda client: client.language.models.retrain("A", profil="fast"),
    lambda client: client.vision.predict("A", b"x", explian=True),
    lambda client: client.vision.ocr(b"x", tsak="form"),
    lambda client: client.vision.batches.create("A", b"x", alphabt="latin"),
    lambda client: client.language.batches.create("A", b"x", colums="input"),
]


@pytest.mark.parametrize("call", UNKNOWN)
def test_unknown_keywords_are_refused(service: Service, call: Callable[[Presage], object]) -> None:
    """A misspelt keyword is a TypeError that names it, and nothing is sent."""
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        call(service.client)
    assert service.calls == []


def public_methods() -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield name and method of everything that a client offers."""
    client = Presage(token="x")
    parts: list[object] = [client, *vars(client).values()]
    for family in (client.language, client.vision):
        parts += vars(family).values()
    for part in parts:
        for name, method in inspect.getmembers(part, inspect.ismethod):
            if not name.startswith("_"):
                yield f"{type(part).__name__}.{name}", method


def test_annotations_can_be_evaluated() -> None:
    """Frameworks that read annotations at run time find the types of every method."""
    for name, method in public_methods():
        assert "return" in typing.get_type_hints(method), name


def test_every_public_method_declares_its_keywords() -> None:
    """Where keywords are collected, the test above has a call that misspells one."""
    open_calls = {
        name
        for name, method in public_methods()
        if re.search(r"\*\*\w", str(inspect.signature(method)))
    }
    assert open_calls == {
        *(f"Datasets.{name}" for name in ("upload", "check", "add")),
        *(f"Models.{name}" for name in ("train", "retrain")),
        *(f"Vision.{name}" for name in ("predict", "ocr")),
        *("Batches.create", "PictureBatches.create"),
    }


@pytest.mark.parametrize(
    ("options", "forms", "others"),
    [
        (
            _sources.ReadingOptions,
            (UploadForm, PictureUploadForm, AddForm),
            "type path name language labelDescriptions",
        ),
        (_sources.TrainParams, (TrainParams,), ""),
        (_sources.OcrOptions, (OcrForm,), "sampleLocation sampleBase64Content task"),
        (
            _sources.BatchOcrOptions,
            (PictureBatchForm,),
            "modelId path datasetId kind numResults name format partial",
        ),
        (
            _sources.BatchTextOptions,
            (BatchForm,),
            "modelId path datasetId kind numResults name format partial",
        ),
    ],
)
def test_options_are_those_of_the_service(
    options: type, forms: tuple[type[msgspec.Struct], ...], others: str
) -> None:
    """Collected keywords are the fields of the service's forms, except for the named others."""
    fields = {item.encode_name for form in forms for item in msgspec.structs.fields(form)}
    assert {_sources.camel(name) for name in options.__annotations__} == fields - {*others.split()}


def test_datasets_and_paths_of_unlabelled_texts_are_sent_as_they_are(service: Service) -> None:
    """A dataset is sent as its id, and the path of an earlier upload without another upload."""
    service.answers["POST /language/train"] = {**LISTED, "learningRate": 0, "epochs": 0}
    service.answers["GET /language/datasets/7"] = {**DATASET, "statusMsg": "SUCCEEDED"}
    language, sent = service.client.language, []
    hooks = service.client.transport.http.event_hooks
    service.client.transport.http.event_hooks = {
        **hooks,
        "request": [lambda request: sent.append(json.loads(request.read() or b"{}"))],
    }
    path = "presage:upload/" + "A" * 26
    for texts in (language.datasets.get(7), 7, "7", path):
        language.models.train(7, "m", unlabelled=texts)
    found = [one["trainParams"]["unlabelled"] for one in sent[1:]]
    assert found == [7, 7, "7", path]


@pytest.mark.parametrize(
    ("predicted", "detected", "error"),
    [
        (("invalid_parameter", "needs image"), None, None),
        (("invalid_parameter", "needs image"), ("bad_request", "damaged"), "damaged"),
        (
            ("invalid_parameter", "is of type text-intent; needs image"),
            ("invalid_parameter", "needs image-detection"),
            "text-intent; needs image",
        ),
    ],
)
def test_images_for_models_whose_type_is_unknown(
    service: Service,
    predicted: tuple[str, str],
    detected: tuple[str, str] | None,
    error: str | None,
) -> None:
    """An image goes to the call that accepts its model; else the refusal of the image is raised."""
    box = {"minX": 1, "minY": 2, "maxX": 3, "maxY": 4}
    found = {"probabilities": [{"label": "cat", "probability": 0.9, "boundingBox": box}]}
    refused = [
        (400, {"code": one[0], "message": one[1]}) for one in (predicted, detected or predicted)
    ]
    service.answers["POST /vision/predict"] = refused[0]
    service.answers["POST /vision/detect"] = refused[1] if detected else {**found, "object": "x"}
    ask = service.client.vision.predict_sample
    if error is None:
        assert ask("M", "", "http://there/cat.png", None).probabilities[0].label == "cat"
    else:
        with pytest.raises(BadRequestError, match=error):
            ask("M", "", "http://there/cat.png", None)
    assert service.calls == ["POST /vision/predict", "POST /vision/detect"]


@pytest.mark.parametrize(
    ("model_type", "code"), [("image", "invalid_parameter"), ("", "bad_request")]
)
def test_a_refused_image_is_sent_once(service: Service, model_type: str, code: str) -> None:
    """An image is not sent again if its model's type is known, or if the image was refused."""
    service.answers["POST /vision/predict"] = 400, {"message": "damaged", "code": code}
    with pytest.raises(BadRequestError, match="damaged"):
        service.client.vision.predict_sample("M", model_type, "http://there/cat.png", None)
    assert service.calls == ["POST /vision/predict"]


def test_columns_are_sent_as_json(service: Service) -> None:
    """Several text columns are sent as the JSON array that the service reads."""
    service.answers["POST /language/datasets/upload"] = {**DATASET, "statusMsg": "UPLOADING"}
    url = "http://there/t.csv"
    sent: list[Any] = []
    hooks = service.client.transport.http.event_hooks
    service.client.transport.http.event_hooks = {
        **hooks,
        "request": [lambda request: sent.append(json.loads(request.read()))],
    }
    service.client.language.datasets.upload(url, text_column=["Subject", "Body"], wait=False)
    assert sent == [{"path": url, "textColumn": '["Subject", "Body"]'}]


def test_samples_of_models_whose_type_is_unknown(service: Service) -> None:
    """A text is predicted by the call that accepts its model; else the first refusal is raised."""
    wrong = {"message": "this call needs text-intent", "code": "invalid_parameter"}
    found = {"probabilities": [{"label": "negative", "probability": 0.9}], "object": "x"}
    service.answers["POST /language/intent"] = 400, wrong
    service.answers["POST /language/sentiment"] = [found, (400, {"message": ""})]
    ask = service.client.language.predict_sample
    assert ask("M", "", "awful", None).label == "negative"
    with pytest.raises(BadRequestError, match="needs text-intent"):
        ask("M", "", "awful", None)
    assert service.calls == ["POST /language/intent", "POST /language/sentiment"] * 2
    with pytest.raises(BadRequestError):
        ask("M", "text-intent", "awful", None)
    assert service.calls[4:] == ["POST /language/intent"]
