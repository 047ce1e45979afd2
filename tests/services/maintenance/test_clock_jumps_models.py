"""The clock jumps by two hours: versions, adjustments, exports, imports and templates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chalicelib.domain.datasets.upload import UploadSource
from chalicelib.domain.jobs.export import MAX_KEPT_MODELS
from chalicelib.domain.models.model import Model, TrainRequest
from chalicelib.errors import TooManyOpen
from chalicelib.services.training.adjusting import AdjustmentRequest
from chalicelib.stores.aws.tables import ModelRow
from chalicelib.stores.jobs.queues import EXPORT, TRAIN_FREE
from tests.builders import World, a_csv, some_rows
from tests.pdfs import text_pdf
from tests.pictures import make_zip
from tests.services.maintenance.test_clock_jumps import JUMPS, OPERATIONS, jump
from tests.tiny_ocr import TinyEngine

ROWS = some_rows({"book": 12, "cancel": 12})
SENT = a_csv([("text", "label"), *ROWS])


@pytest.fixture(autouse=True)
def networks(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Give exports a file for each network, and read documents by their text layer."""
    for name in ("bge", "use"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.onnx").write_bytes(b"a graph that nothing may open")
    monkeypatch.setattr(world.container.encoders, "_directory", tmp_path)
    monkeypatch.setitem(world.container.readers._engines, "ppocr", TinyEngine())
    monkeypatch.setattr(world.container.ocr, "require_networks", lambda model: None)


def read(world: World, model: Model) -> Model:
    """Read a model again."""
    return world.container.models.get(world.account.account_id, model.model_id)


def adjust(world: World, model: Model) -> None:
    """Request an adjustment."""
    wanted = AdjustmentRequest(UploadSource(content=SENT, file_name="users.csv"))
    world.container.adjustments.request(world.account, model, wanted, 20)


def learn(world: World) -> Any:
    """Request a template."""
    values = [{"file": "a.pdf", "values": {"order": "4711"}}]
    files = {"a.pdf": text_pdf(["Order number: 4711"]), "values.json": json.dumps(values).encode()}
    source = UploadSource(content=make_zip(files), file_name="a.zip")
    return world.container.templates.create(world.account, source)


def archive_of(world: World, model: Model) -> bytes:
    """Return the archive of a new export."""
    world.container.model_exports.create(model, "bundle")
    world.work()
    [key] = world.objects(f"exports/{model.model_id}/")
    return world.stores.artifacts.get(key) or b""


@JUMPS
def test_dead_workers_jobs_are_done(world: World, hours: int) -> None:
    """Jobs of dead workers succeed after the jump: adjustment, import, export and template."""
    view = world.dataset(ROWS)
    adjusted, exported = world.model(view), world.model(view)
    content = archive_of(world, exported)
    stores, account_id = world.stores, world.account.account_id
    adjust(world, adjusted)
    source = UploadSource(content=content, file_name="model.zip")
    imported = world.container.imports.request(world.account, "language", source, "theirs")
    export = world.container.model_exports.create(exported, "bundle")
    learning = learn(world)
    world.messages()
    assert stores.model_leases.acquire(account_id, adjusted.model_id, read(world, adjusted).run)
    assert stores.model_leases.acquire(account_id, imported.model_id, 1)
    assert stores.exports.acquire(account_id, export.export_id)
    assert stores.learnings.acquire(account_id, learning.learning_id)
    jump(world, hours)

    world.container.sweeping.run()
    waiting = world.messages()
    assert {queue for queue, _ in waiting} >= {TRAIN_FREE, EXPORT}
    for message in waiting:
        world.deliver(message)
    world.work()

    assert {row.status for row in world.rows(ModelRow)} == {"SUCCEEDED"}
    assert [one.is_adjusted for one in read(world, adjusted).versions.items] == [False, True]
    assert world.container.model_exports.get(exported, export.export_id).status == "SUCCEEDED"
    assert world.container.templates.get(world.account, learning.learning_id)[1] is not None


@JUMPS
def test_new_work_is_accepted(world: World, hours: int) -> None:
    """After the jump 20 versions are added, and the newest is the one created last."""
    model = world.model(world.dataset(ROWS))
    jump(world, hours)

    for number in range(2, 2 + OPERATIONS):
        adjust(world, read(world, model))
        world.work()
        kept = world.container.model_versions.list(read(world, model))
        assert (kept[0].version.number, kept[0].is_served) == (number, True)
        assert world.container.model_versions.serve(read(world, model), number - 1).is_served
    numbers = [one.version.number for one in kept]
    assert numbers == sorted(numbers, reverse=True)
    assert OPERATIONS in numbers


@JUMPS
def test_exports_can_be_fetched_and_expire(world: World, hours: int) -> None:
    """Exports from before the jump stay, count toward the limit, and expire after a day."""
    model = world.model(world.dataset(ROWS))
    exports = world.container.model_exports
    made = [exports.create(model, "bundle") for _ in range(MAX_KEPT_MODELS)]
    world.work()
    jump(world, hours)

    assert {exports.get(model, one.export_id).status for one in made} == {"SUCCEEDED"}
    with pytest.raises(TooManyOpen):
        exports.create(model, "bundle")
    world.clock.advance(hours=24 - min(0, hours))
    for _ in range(MAX_KEPT_MODELS):
        exports.create(model, "bundle")


@JUMPS
def test_trainings_and_templates_are_accepted(world: World, hours: int) -> None:
    """Work that ended before the jump does not count as open after it."""
    view = world.dataset(ROWS)
    model, learning = world.model(view), learn(world)
    world.work()
    jump(world, hours)

    for _ in range(3):
        world.container.training.retrain(world.account, read(world, model), TrainRequest())
        world.work()
    assert read(world, model).versions.last == 4
    assert world.container.templates.get(world.account, learning.learning_id)[1] is not None
    later = learn(world)
    world.work()
    assert world.container.templates.get(world.account, later.learning_id)[0].status == "SUCCEEDED"
