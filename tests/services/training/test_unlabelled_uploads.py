"""Uploaded texts without labels, which a training from label names uses. beyond.md, section 15."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from chalicelib.domain.models.model import FAILED, QUEUED, SUCCEEDED, Model, ModelView, TrainRequest
from chalicelib.errors import (
    InvalidParameter,
    ModelBusy,
    ServiceError,
    StorageUnavailable,
    TimedOut,
    TooLarge,
    TooManyOpen,
)
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.services.training import unlabelled
from chalicelib.stores.aws.tables import ModelRow
from infra.backups.dumping import dump
from infra.backups.folder import BackupFolder
from infra.backups.restoring import restore
from tests.builders import World, a_csv, some_rows
from tests.fresh_aws import provide
from tests.pictures import draw, make_zip
from tests.services.training.killed_runs import interrupt

NAMES = {"minimumExamples": 0}
TEXTS = some_rows({"anything": 30})


@pytest.fixture
def view(world: World):
    """A dataset of labels without examples."""
    fields = NewDataset("Names", "text-intent", "en_US", "book_flight,cancel_order,late_parcel")
    return world.container.datasets.create(world.account, "language", fields)


def send(world: World, content: bytes = a_csv(TEXTS)) -> str:
    """Upload a file with a form, and return its path."""
    form = world.container.upload_forms.issue(world.account, "texts.csv")
    world.stores.clients.s3.put_object(
        Bucket=world.settings.bucket, Key=form.fields["key"], Body=content
    )
    return form.path


def wanted(path: object) -> TrainRequest:
    """Return a request that names uploaded texts."""
    return TrainRequest(params={**NAMES, "unlabelled": path})


def copies(world: World) -> list[str]:
    """List the stored texts of runs, and their vectors."""
    return [key for key in world.objects("models/") if "/adjustments/" in key]


def read(world: World, model: Model) -> Model:
    """Read a model again."""
    return world.container.models.get(model.account_id, model.model_id)


def artifact(world: World, model: Model) -> bytes | None:
    """Return the artifact of a model's served version."""
    model = read(world, model)
    return world.stores.model_files.artifact(model.model_id, model.version)


def refuse(*_: object, **__: object) -> None:
    """Fail like a bucket or table that cannot be reached."""
    raise StorageUnavailable


def test_uploaded_texts_count_as_those_of_a_dataset(world: World, view) -> None:
    """The same texts give the same model from both sources; nothing of the upload is left."""
    others = world.dataset(TEXTS)
    plain = world.model(view, wanted(others.dataset.dataset_id))
    path = send(world)
    queued = world.train(view, wanted(path)).model
    assert len(copies(world)) == 1
    assert world.objects("incoming/") == []
    world.work()

    assert read(world, queued).status == SUCCEEDED
    assert artifact(world, queued) == artifact(world, plain)
    assert artifact(world, queued) != artifact(world, world.model(view, TrainRequest(params=NAMES)))
    assert copies(world) == []
    with pytest.raises(InvalidParameter, match="used already"):
        world.train(view, wanted(path))
    with pytest.raises(InvalidParameter, match="used already"):
        world.container.training.retrain(world.account, read(world, queued), wanted(path))


def test_a_waiting_run_outlives_its_upload(world: World, view) -> None:
    """The run uses its own copy, because its upload has expired when it begins."""
    model = world.train(view, wanted(send(world))).model
    world.messages()
    world.clock.advance(hours=30)
    world.settle()

    assert (read(world, model).status, read(world, model).failure) == (SUCCEEDED, "")


def test_a_retraining_uses_the_texts_of_its_own_call(world: World, view) -> None:
    """A retraining stores its texts under its own run, and deletes them when it ends."""
    model = world.model(view, TrainRequest(params=NAMES))
    before = artifact(world, model)
    world.container.training.retrain(world.account, model, wanted(send(world)))
    [key] = copies(world)
    assert "/adjustments/2-" in key
    world.work()

    assert artifact(world, model) != before
    assert copies(world) == []


def test_a_killed_run_is_finished_by_another_worker(
    world: World, view, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a kill the sweep starts the run again, which reads the stored texts once more."""
    plain = world.model(view, wanted(world.dataset(TEXTS).dataset.dataset_id))
    model = world.train(view, wanted(send(world))).model
    interrupt(world, monkeypatch)
    assert any(key.endswith("texts.json") for key in copies(world))
    # The vectors of a large file are not computed twice.
    assert any("/embeddings/" in key for key in copies(world))
    world.clock.advance(hours=1)
    world.settle()

    assert (read(world, model).status, read(world, model).failure) == (SUCCEEDED, "")
    assert artifact(world, model) == artifact(world, plain)
    assert copies(world) == []


def test_a_run_that_fails_for_good_deletes_the_texts(
    world: World, view, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run without attempts left is FAILED, and its texts are deleted."""
    model = world.train(view, wanted(send(world))).model

    def fail(*_: object) -> None:
        raise ValueError("broken")

    monkeypatch.setattr(type(world.stores.training_examples), "read", fail)
    for _ in range(world.settings.max_attempts + 1):
        with suppress(ValueError):
            world.settle()
        world.clock.advance(hours=1)

    assert read(world, model).status == FAILED
    assert copies(world) == []


def test_a_run_without_its_texts_says_so(world: World, view) -> None:
    """If the stored texts are lost, the run fails with the remedy instead of ignoring them."""
    model = world.train(view, wanted(send(world))).model
    for key in copies(world):
        world.stores.artifacts.delete(key)
    world.work()

    assert read(world, model).status == FAILED
    assert "Upload them, and train again" in read(world, model).failure


def test_a_deleted_model_leaves_no_texts(
    world: World, view, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts that the end of a run could not delete go with the model."""
    model = world.train(view, wanted(send(world))).model
    with monkeypatch.context() as patch:
        patch.setattr(type(world.stores.user_texts), "delete_until", refuse)
        world.work()
    assert copies(world)
    world.container.deletions.delete_model(world.account, model.model_id)
    world.settle()

    assert world.objects("models/") == []


def test_a_closed_account_leaves_no_texts(
    world: World, view, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing an account while its training runs deletes the texts with everything else."""
    world.train(view, wanted(send(world)))
    interrupt(world, monkeypatch)
    due = world.clock.now.replace(day=28)
    world.stores.accounts.close(world.account.account_id, due)
    world.clock.now = due
    for _ in range(3):
        world.settle()

    assert world.rows(ModelRow) == []
    assert world.objects() == []


def test_a_waiting_run_is_in_the_backup(world: World, view, tmp_path: Path) -> None:
    """The restored stack finishes a run with the texts of an upload that it does not have."""
    model = world.train(view, wanted(send(world))).model
    folder = BackupFolder(tmp_path / "backup")
    folder.verify(dump(world.settings, folder))
    provide(world.settings)
    restore(world.settings, folder)
    world.clock.advance(hours=1)
    world.settle()

    assert (read(world, model).status, read(world, model).failure) == (SUCCEEDED, "")
    assert copies(world) == []


@pytest.mark.parametrize(
    ("content", "refusal", "words"),
    [
        (
            b"text\n" + b"".join(b"%d\n" % n for n in range(20_001)),
            InvalidParameter,
            "20,001 .* 20,000",
        ),
        (b"text,label\n,a\n,b\n", InvalidParameter, "0 texts .* Send a file with texts"),
        (b"text\n" + b"a" * 25 * 1024**2, TooLarge, "26214405 bytes; at most 26214400"),
        (draw(), InvalidParameter, "image|JPEG|PNG"),
        (make_zip({"a/1.png": draw()}), InvalidParameter, "zip archive"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(
    world: World, view, content: bytes, refusal: type[ServiceError], words: str
) -> None:
    """The error names limit, value and remedy; no model is made, and the upload is not used up."""
    path = send(world, content)
    for _ in range(2):
        with pytest.raises(refusal, match=words):
            world.train(view, wanted(path))
    assert world.rows(ModelRow) == []
    assert copies(world) == []


def test_texts_that_repeat_or_cannot_be_read(world: World, view) -> None:
    """Equal texts are stored once; rows without a text or with a too long one are left out."""
    rows = [*TEXTS, *TEXTS, ("", "none"), ("a" * 20_001, "long")]
    world.train(view, wanted(send(world, a_csv([("text", "label"), *rows]))))

    [key] = copies(world)
    assert json.loads(world.stores.artifacts.get(key) or b"") == [text for text, _ in TEXTS]


def test_foreign_and_unknown_paths_are_alike(world: World, view) -> None:
    """An upload of another account answers like one that does not exist, and stays usable."""
    path = send(world)
    other = world.new_account("other@example.test")
    fields = NewDataset("Names", "text-intent", "en_US", "one,two")
    theirs = world.container.datasets.create(other, "language", fields)
    errors = []
    for foreign in (path, "presage:upload/" + "A" * 26):
        with pytest.raises(InvalidParameter) as caught:
            world.train(theirs, wanted(foreign), other)
        errors.append(str(caught.value).replace(foreign, "PATH"))

    assert errors[0] == errors[1]
    assert world.train(view, wanted(path)).model.status == QUEUED


def test_a_refused_call_releases_the_upload(
    world: World, view, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the run is not queued, its copy is deleted and the path can be used again."""
    path = send(world)
    with monkeypatch.context() as patch:
        patch.setattr(type(world.stores.models), "create", refuse)
        with pytest.raises(StorageUnavailable):
            world.train(view, wanted(path))
    assert copies(world) == []
    limit = world.settings.max_open_trainings
    waiting = [world.train(view, TrainRequest(params=NAMES)) for _ in range(limit)]
    with pytest.raises(TooManyOpen):
        world.train(view, wanted(path))
    with pytest.raises(ModelBusy):
        world.container.training.retrain(world.account, waiting[0].model, wanted(path))
    assert copies(world) == []
    world.work()

    model = world.train(view, wanted(path)).model
    world.work()
    assert read(world, model).status == SUCCEEDED


def test_an_accepted_run_keeps_its_texts_if_the_answer_is_lost(
    world: World, view, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row may be written although the call fails; then the run still finds its texts."""
    model = world.model(view, TrainRequest(params=NAMES))
    service = world.container.training
    queue_again = service._queue_again

    def lose(*args: Any) -> ModelView:
        queue_again(*args)
        raise StorageUnavailable

    monkeypatch.setattr(service, "_queue_again", lose)
    with pytest.raises(StorageUnavailable):
        service.retrain(world.account, model, wanted(send(world)))
    world.work()

    assert (read(world, model).run, read(world, model).status) == (2, SUCCEEDED)


def test_of_two_calls_with_one_upload_one_is_refused(
    world: World, view, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second retraining with the same path, which reads it at the same time, deletes nothing."""
    model = world.model(view, TrainRequest(params=NAMES))
    path, seen = send(world), []
    read_file = type(world.stores.uploaded_files).read

    def meet(self, *args: Any, **more: Any) -> None:
        read_file(self, *args, **more)
        if not seen:
            seen.append(path)
            world.container.training.retrain(world.account, model, wanted(path))

    monkeypatch.setattr(type(world.stores.uploaded_files), "read", meet)
    with pytest.raises(InvalidParameter, match="used already"):
        world.container.training.retrain(world.account, model, wanted(path))
    assert len(copies(world)) == 1
    world.work()

    assert (read(world, model).status, read(world, model).failure) == (SUCCEEDED, "")


def test_a_slow_file_ends_the_call(world: World, view, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is not read in time is a timeout with a remedy, and stays usable."""
    path = send(world)

    def wait(file: Any, *, check: Any, **_: Any):
        world.clock.advance(minutes=1)
        check()
        yield

    with monkeypatch.context() as patch:
        patch.setattr(unlabelled, "read_lines", wait)
        with pytest.raises(TimedOut, match=r"not read within 20 seconds. Send a smaller"):
            world.train(view, wanted(path))
    assert world.train(view, wanted(path)).model.status == QUEUED
