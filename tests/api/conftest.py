"""A caller that speaks raw gateway events, and small hand-made services behind the routes."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

import app as module
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import Allowances, Usage
from chalicelib.domain.common.paging import ListPage
from chalicelib.domain.datasets.dataset import Dataset, DatasetView, Label, LabelCounts
from chalicelib.domain.datasets.example import Example, ExampleView
from chalicelib.domain.datasets.fields import checked_name
from chalicelib.domain.datasets.receipt import Receipt, RejectedItem
from chalicelib.domain.documents.findings import Contact, FormField, NamedTable, Table
from chalicelib.domain.documents.ocr import Finding, OcrRequest, TableBlock
from chalicelib.domain.documents.page import Page, ReadPage, Rect, TextLine
from chalicelib.domain.documents.picture import PixelBox
from chalicelib.domain.documents.sample import Sample
from chalicelib.domain.jobs.deletion import Deletion
from chalicelib.domain.models.model import Model, ModelView, ServedModel, TrainRequest
from chalicelib.domain.models.model_files import EnginePart
from chalicelib.domain.models.prediction import Detection, Prediction, Probability
from chalicelib.errors import (
    DatasetNotFound,
    DeletionNotFound,
    InvalidToken,
    LabelNotFound,
    ModelNotFound,
    ModelNotReady,
    ServiceError,
    TokenNotFound,
)
from chalicelib.services.accounts.tokens import Granted
from chalicelib.services.accounts.usage import UsageFacts
from chalicelib.services.predictions.documents import OcrService
from chalicelib.services.uploads.upload_forms import IssuedForm

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
LAST_MINUTE = datetime(2026, 11, 30, 23, 59, tzinfo=UTC)
"""When calls are counted; the next month begins after 60 seconds."""
MODEL_ID = "7JYVH57NDS3MB7HS76ZPVQQXJA"
ACCOUNT = Account("2", "a@example.test", "STARTER", "HEROKU", "ACTIVE", (), "kQ2mTzXwPa", NOW)
DATASET = Dataset(
    account_id="2",
    family="language",
    dataset_id=7,
    name="shop",
    type="text-intent",
    language="en_US",
    status="SUCCEEDED",
    available=True,
    created_at=NOW,
    updated_at=NOW,
    counts=(LabelCounts(71, 2), LabelCounts(72, 1)),
)
VIEW = DatasetView(DATASET, (Label(71, 7, "refund", 2), Label(72, 7, "delivery", 1)))
MODEL = Model(
    account_id="2",
    model_id=MODEL_ID,
    name="Shop v1",
    dataset_id=7,
    family="language",
    type="text-intent",
    language="en_US",
    status="SUCCEEDED",
    progress=1.0,
    created_at=NOW,
    updated_at=NOW,
    request=TrainRequest(algorithm="multilingual-intent"),
)


@dataclass
class FakeServices:
    """Answers like the services, from a few fixed objects; counts and remembers."""

    calls: list[tuple[str, Any]] = field(default_factory=list)
    predictions_used: int = 10
    examples_used: int = 0
    failure: BaseException | None = None
    """Raised by the next piece of work."""
    dataset_status: str = "SUCCEEDED"
    model_status: str = "SUCCEEDED"
    examples: int = 3

    def work(self, name: str, *facts: Any) -> None:
        """Remember a call, or fail as told."""
        self.calls.append((name, facts))
        if self.failure is not None:
            raise self.failure

    # tokens
    def authenticate(self, token: str) -> Account:
        if token != "good":
            raise InvalidToken
        return ACCOUNT

    def grant_assertion(self, assertion: str, scope: str | None, domain: str) -> Granted:
        self.work("assertion", assertion, scope, domain)
        return Granted("access", 900, "refresh" if scope == "offline" else None)

    def grant_refresh(self, token: str, valid_for: object) -> Granted:
        self.work("refresh", token, valid_for)
        return Granted("access", 60)

    def revoke(self, account: Account, token: str) -> None:
        if token != "living.refresh-token":
            raise TokenNotFound

    # usage
    def _usage(self, used: int, limit: int = 2000) -> Usage:
        return Usage(limit, used, NOW, datetime(2026, 12, 1, tzinfo=UTC))

    def usage_now(self, account: Account) -> Usage:
        return self._usage(self.predictions_used)

    def facts(self, account: Account) -> UsageFacts:
        month = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)
        plan = ("STARTER", 1, "HEROKU", "kQ2mTzXwPa")
        return UsageFacts("2202611", "2", *month, *plan, self._usage(self.predictions_used))

    @contextmanager
    def prediction(self, account: Account, model: ServedModel) -> Iterator[Usage]:
        with Allowances(self, lambda: LAST_MINUTE, 30).prediction(account, model) as usage:
            yield usage

    def reserve(self, account_id: str, kind: str, month: str, limit: int, _: datetime) -> int:
        used = getattr(self, f"{kind}_used")
        if used >= limit:
            return None
        setattr(self, f"{kind}_used", used + 1)
        return used + 1

    def give_back(self, account_id: str, kind: str, month: str) -> bool:
        setattr(self, f"{kind}_used", getattr(self, f"{kind}_used") - 1)
        return True

    def used(self, account_id: str, kind: str, month: str) -> int:
        return getattr(self, f"{kind}_used")

    # datasets
    def view(self) -> DatasetView:
        return replace(VIEW, dataset=replace(DATASET, status=self.dataset_status))

    def get_dataset(self, account_id: str, family: str, dataset_id: int) -> DatasetView:
        if (family, dataset_id) != ("language", 7):
            raise DatasetNotFound(dataset_id)
        return self.view()

    def list_datasets(self, account_id: str, family: str, offset: int, count: int) -> ListPage:
        self.calls.append(("list", (family, offset, count)))
        items = [VIEW] * 30 if family == "language" else []
        return ListPage(tuple(items[offset : offset + count]), offset, len(items) > offset + count)

    def list_global(self, family: str, offset: int, count: int) -> ListPage:
        self.calls.append(("list_global", (family, offset, count)))
        return ListPage((), offset, False)

    def create_dataset(self, account: Account, family: str, fields: Any) -> DatasetView:
        self.work("create", family, fields)
        return VIEW

    def upload(self, *facts: Any) -> DatasetView:
        self.work("upload", *facts)
        row = replace(DATASET, status="UPLOADING", available=False, counts=())
        return DatasetView(row, ())

    # examples and feedback
    def _example(self, number: int) -> ExampleView:
        return ExampleView(Example(number, "where is it", NOW, 72), VIEW.labels[1], "where is it")

    def list_examples(self, *facts: Any) -> ListPage:
        self.work("examples", *facts)
        offset, count = facts[-2:]
        with Allowances(self, lambda: LAST_MINUTE, 30).example_call(ACCOUNT):
            return self._examples_page(offset, count)

    def _examples_page(self, offset: int, count: int) -> Page:
        items = [self._example(i) for i in range(offset, min(self.examples, offset + count))]
        return ListPage(tuple(items), offset, offset + count < self.examples)

    def find_label(self, account_id: str, family: str, label_id: int) -> tuple:
        if label_id != 72:
            raise LabelNotFound(label_id)
        return self.view(), VIEW.labels[1]

    def label_of(self, view: DatasetView, segment: str) -> Label:
        if segment not in ("72", "1"):
            raise LabelNotFound(segment[:100])
        return VIEW.labels[1]

    def add_picture(self, *facts: Any) -> ExampleView:
        self.work("add picture", *facts)
        return self._example(9)

    def add_text(self, *facts: Any) -> ExampleView:
        self.work("add", *facts)
        return self._example(9)

    # models
    def get_model(self, account_id: str, model_id: str) -> Model:
        if model_id != MODEL_ID:
            raise ModelNotFound(model_id)
        return replace(MODEL, status=self.model_status)

    def train(self, *facts: Any) -> ModelView:
        self.work("train", *facts)
        row = replace(MODEL, status="QUEUED", progress=0.0, request=facts[-1])
        return ModelView(row, 1)

    def check(self, model: Model, kind: str) -> None:
        if model.status != "SUCCEEDED":
            raise ModelNotReady(model.model_id, model.status)

    def answer(
        self, account: Account, model: Model, text: str, *, dataset_type: str, count: int | None
    ) -> Prediction:
        self.check(model, dataset_type)
        with self.prediction(account, model) as usage:
            self.work("predict", dataset_type, text, count)
            items = (Probability("delivery", 0.75), Probability("refund", 0.25))
            return Prediction(items[:count], usage)

    def classify(
        self, account: Account, model: Model, sample: Sample, count: int | None
    ) -> Prediction:
        self.check(model, "")
        with self.prediction(account, model) as usage:
            self.work("predict", sample, count)
            return Prediction((Probability("delivery", 0.75), Probability("refund", 0.25)), usage)

    def detect(self, account: Account, model: Model, sample: Sample) -> Prediction:
        self.check(model, "")
        with self.prediction(account, model) as usage:
            self.work("detect", sample)
            return Prediction((Detection("bear", 0.875, PixelBox(1, 2, 30, 40)),), usage)

    def find_served(self, account_id: str, model_id: str) -> ServedModel:
        if model_id in ("OCRModel", "tabulatev2"):
            return ServedModel(model_id, "ocr", "SUCCEEDED", "prebuilt")
        model = self.get_model(account_id, model_id)
        return ServedModel(model.model_id, model.type, model.status, "r1-1")

    def read_document(
        self,
        model: ServedModel,
        sample: Sample,
        request: OcrRequest,
        seconds_left: Callable[[], float],
    ) -> tuple[Finding, ...]:
        self.work("read", model.model_id, sample, request, seconds_left())
        model.require_type(("ocr",))
        view = ReadPage(Page(1, 200, 100, 1.0), 0, None, ())
        box = Rect(1, 2, 30, 40)
        items = {
            "text": TextLine("EXIT", 0.875, box),
            "table": TableBlock(NamedTable(Table(box, ()), None, (), {}, {}), ()),
            "contact": Contact("ORG", "Orchid Labs", 0.875, box),
            "form": FormField("name", "Name:", box, "", None, 0.875),
        }
        return (Finding(view, 0, items[request.task]),)

    def card(self, account_id: str, model_id: str) -> dict:
        path = Path(__file__).parents[1] / "spec/examples/card_intent.json"
        self.get_model(account_id, model_id)
        return json.loads(path.read_text())

    def curve(self, model: Model, offset: int, count: int) -> ListPage:
        items = [
            {"epoch": i, "metricsData": {}, "epochResults": {}, "object": "learningcurve"}
            for i in (1, 2, 3)
        ]
        return ListPage(tuple(items[offset : offset + count]), offset, len(items) > offset + count)

    def delete(self, account: Account, *facts: Any) -> Deletion:
        self.work("delete", *facts)
        return Deletion("TFEMMROASQSHPFHUY6WNX2ZLWY", "2", "DATASET", str(facts[-1]))

    def get_deletion(self, account_id: str, deletion_id: str) -> Deletion:
        if deletion_id != "TFEMMROASQSHPFHUY6WNX2ZLWY":
            raise DeletionNotFound(deletion_id)
        return Deletion(deletion_id, "2", "DATASET", "7", "RUNNING", 0.4)

    def receipts(self, view: DatasetView, offset: int, count: int) -> ListPage:
        rejected = RejectedItem("A row needs a text and a label.", row=4)
        item = Receipt("R" * 26, 7, NOW, "SUCCEEDED", None, 4, 2, 1, 1, (rejected,))
        return ListPage((item,), 0, False)

    def issue_form(self, account: Account, name: str | None) -> IssuedForm:
        """Issue a form."""
        self.work("issue", account, name)
        if name is not None:
            checked_name(name)
        return IssuedForm("https://b.example.test/", {"key": "k"}, "presage:upload/X", NOW, 2**31)

    def container(self) -> SimpleNamespace:
        """Arrange the answers as the container does."""
        some = SimpleNamespace
        return some(
            settings=some(sync_seconds=25.0),
            clock=lambda: NOW,
            health=some(parts=lambda: [EnginePart("minilm", "loaded", "MiniLM", "ab" * 32)]),
            engines=lambda: {"text-fast": "ready"},
            tokens=self,
            usage=some(facts=self.facts),
            allowances=some(predictions=self.usage_now),
            served_models=some(find=self.find_served),
            datasets=some(
                get=self.get_dataset,
                list=self.list_datasets,
                list_global=self.list_global,
                create=self.create_dataset,
            ),
            uploads=some(
                create=self.upload,
                create_sync=self.upload,
                add=self.upload,
                add_feedback=self.upload,
            ),
            examples=some(
                list_dataset=self.list_examples,
                list_label=self.list_examples,
                find_label=self.find_label,
                label_of=self.label_of,
                add_text=self.add_text,
                add_picture=self.add_picture,
            ),
            feedback=some(add_text=self.add_text, add_picture=self.add_picture),
            training=some(
                request=self.train, retrain=self.train, view=lambda model: ModelView(model)
            ),
            models=some(
                get=self.get_model,
                metrics=lambda model: some(model=model, created_at=NOW, data={"f1": [1.0]}),
                curve=self.curve,
                card=self.card,
                list=lambda view, offset, count: ListPage((MODEL,), offset, False),
            ),
            deletions=some(
                delete_dataset=self.delete, delete_model=self.delete, get=self.get_deletion
            ),
            predictions=some(answer=self.answer),
            picture_predictions=some(classify=self.classify, detect=self.detect),
            ocr=some(
                require_networks=lambda model: None,
                template=OcrService.template,
                read=self.read_document,
            ),
            receipts=some(list=self.receipts),
            incoming=some(issue=self.issue_form),
        )


@dataclass(frozen=True)
class Answer:
    """What came back through the gateway."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The decoded body."""
        return json.loads(self.text)


class Caller:
    """Sends events as API Gateway makes them."""

    def __init__(self, services: FakeServices) -> None:
        self.services = services

    def __call__(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        content_type: str | None = None,
        **headers: str,
    ) -> Answer:
        """Send one request; a token is sent along unless `authorization` says otherwise."""
        return self.send(make_event(method, url, body, content_type, **headers))

    def json(self, method: str, url: str, **fields: Any) -> Answer:
        """Send a JSON body."""
        return self(method, url, json.dumps(fields).encode(), "application/json")

    def form(self, method: str, url: str, *parts: tuple[str, bytes, str | None]) -> Answer:
        """Send parts (name, content, file name) as multipart/form-data."""
        return self(method, url, multipart(*parts), 'multipart/form-data; boundary="B"')

    def send(self, event: Any) -> Answer:
        """Send an event as it is."""
        result = module.app(event, None)
        assert set(result) >= {"statusCode", "headers", "body"}
        assert isinstance(result["body"], str)
        return Answer(result["statusCode"], result["headers"], result["body"])


def multipart(*parts: tuple[str, bytes, str | None]) -> bytes:
    """Write parts with the boundary B."""
    body = b""
    for name, content, file_name in parts:
        file_part = f'; filename="{file_name}"' if file_name is not None else ""
        head = f'--B\r\nContent-Disposition: form-data; name="{name}"{file_part}\r\n\r\n'
        body += head.encode() + content + b"\r\n"
    return body + b"--B--\r\n"


def match(path: str) -> tuple[str, dict[str, str]]:
    """Find the route of a path, static parts before variables, as the gateway does."""
    parts = path.strip("/").split("/")
    best: tuple[int, str, dict[str, str]] | None = None
    for template in module.app.routes:
        pieces = template.strip("/").split("/")
        if len(pieces) != len(parts):
            continue
        variables = {p[1:-1]: v for p, v in zip(pieces, parts, strict=True) if p.startswith("{")}
        fixed = [(p, v) for p, v in zip(pieces, parts, strict=True) if not p.startswith("{")]
        if all(p == v for p, v in fixed) and (best is None or len(variables) < best[0]):
            best = len(variables), template, variables
    return (best[1], best[2]) if best else (path, {})


def make_event(
    method: str,
    url: str,
    body: bytes | None = None,
    content_type: str | None = None,
    **headers: str,
) -> dict[str, Any]:
    """Write the proxy event of a request."""
    split = urlsplit(url)
    template, variables = match(split.path)
    sent = {"Host": "api.example.test", "Authorization": "Bearer good"}
    if content_type is not None:
        sent["Content-Type"] = content_type
    sent.update({name.replace("_", "-").title(): value for name, value in headers.items()})
    query = parse_qs(split.query, keep_blank_values=True)
    return {
        "resource": template,
        "path": split.path,
        "httpMethod": method,
        "headers": {name: value for name, value in sent.items() if value},
        "multiValueHeaders": {},
        "queryStringParameters": {name: values[-1] for name, values in query.items()} or None,
        "multiValueQueryStringParameters": query or None,
        "pathParameters": variables or None,
        "stageVariables": None,
        "requestContext": {
            "httpMethod": method,
            "resourcePath": template,
            "path": split.path,
            "requestId": "r-1",
        },
        "body": None if body is None else base64.b64encode(body).decode(),
        "isBase64Encoded": body is not None,
    }


@pytest.fixture
def services() -> FakeServices:
    """Services made by hand."""
    return FakeServices()


@pytest.fixture
def call(services: FakeServices) -> Iterator[Caller]:
    """A caller of the application, whose services are made by hand."""
    module.app.container = services.container()
    yield Caller(services)
    module.app.container = None


@pytest.fixture
def event() -> Any:
    """The maker of raw events."""
    return make_event


@pytest.fixture
def storage_down() -> type[ServiceError]:
    """The error of a storage that does not answer."""
    from chalicelib.errors import StorageUnavailable

    return StorageUnavailable
