"""A service with a trained model, and helpers for its batches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import month_key
from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.datasets.upload import UploadSource
from chalicelib.domain.datasets.upload_format import ReadingOptions
from chalicelib.domain.jobs import batch as rules
from chalicelib.domain.jobs.batch import Batch
from chalicelib.domain.models.model import Model
from chalicelib.services.batches.requests import BatchOptions
from chalicelib.stores.aws.objects import batch_prefix
from chalicelib.stores.aws.tables import QuotaRow
from tests.builders import World, some_rows
from tests.pictures import label_folders
from tests.tiny_vision import TinyVision


class Batches:
    """Sends batches of an account and reads their results."""

    def __init__(self, world: World, model: Model, view: DatasetView) -> None:
        self.world, self.model, self.view = world, model, view
        self.family = view.dataset.family

    def send(
        self,
        content: bytes | Sequence[str],
        *,
        account: Account | None = None,
        name: str = "lines.jsonl",
        **options: Any,
    ) -> Batch:
        """Send a file, or texts as JSON lines."""
        if not isinstance(content, bytes):
            content = "\n".join(json.dumps({"text": text}) for text in content).encode()
        source = UploadSource(content=content, file_name=name)
        return self.create(source, account, **options)

    def create(
        self,
        source: UploadSource | DatasetView,
        account: Account | None = None,
        model_id: str = "",
        **options: Any,
    ) -> Batch:
        """Create a batch."""
        container = self.world.container
        asks = account or self.world.account
        model = container.stores.served_models.find(
            asks.account_id, model_id or self.model.model_id
        )
        if "text_column" in options:
            options["file"] = ReadingOptions(text_column=options.pop("text_column"))
        return container.batches.create(asks, self.family, model, source, BatchOptions(**options))

    def get(self, batch: Batch) -> Batch:
        """Read a batch again."""
        found = self.world.stores.batches.find(batch.account_id, batch.batch_id)
        assert found is not None
        return found

    def content(self, batch: Batch) -> bytes:
        """Read the result of a batch."""
        key = batch_prefix(batch.batch_id) + self.get(batch).result
        content = self.world.stores.artifacts.get(key)
        assert content is not None
        return content

    def lines(self, batch: Batch) -> list[dict[str, Any]]:
        """Read the lines of a result."""
        return [json.loads(line) for line in self.content(batch).splitlines()]

    def used(self, account: Account | None = None) -> int:
        """Return the predictions counted this month."""
        usage = self.world.container.allowances.predictions(account or self.world.account)
        return usage.used

    def use(self, count: int, account: Account | None = None) -> None:
        """Count predictions, so that few remain."""
        asks = (account or self.world.account).account_id
        QuotaRow(asks, f"predictions#{month_key(self.world.clock())}", used=count).save()


@pytest.fixture
def batches(world: World, monkeypatch: pytest.MonkeyPatch) -> Batches:
    """Batches with parts of ten lines, three at a time."""
    monkeypatch.setitem(rules.PART_LINES, "intent", 10)
    runs_settings = replace(world.container.batch_runs._settings, batch_chains=3)
    monkeypatch.setattr(world.container.batch_runs, "_settings", runs_settings)
    model, view = world.once("batches", lambda: _trained(world))
    return Batches(world, model, view)


@pytest.fixture
def shots(world: World, tiny: TinyVision, monkeypatch: pytest.MonkeyPatch) -> Batches:
    """Batches of images: parts of ten images and of two documents."""
    for kind, lines in (("predict", 10), ("detect", 10), ("ocr", 2)):
        monkeypatch.setitem(rules.PART_LINES, kind, lines)
    model, view = world.once("shots", lambda: _trained_on_pictures(world))
    return Batches(world, model, view)


def _trained(world: World) -> tuple[Model, DatasetView]:
    view = world.dataset(some_rows({"book": 9, "cancel": 9}))
    return world.model(view), view


def _trained_on_pictures(world: World) -> tuple[Model, DatasetView]:
    view = world.pictures(label_folders({"red": 9, "green": 9}))
    world.work()
    return world.model(view), view


def texts(count: int) -> list[str]:
    """Return a number of different texts."""
    return [f"book or cancel number {number} please" for number in range(count)]
