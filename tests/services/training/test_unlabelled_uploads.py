"""Uploaded unlabelled texts in trainings from label names. beyond.md, section 15."""

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
    """List the stored copies of texts and their vectors."""
    return [key for key in world.objects("models/") if "/adjustments/" in key]


def read(world: World, model: Model) -> Model:
    """Read a model again."""
    return world.container.models.get(model.account_id, model.model_id)


def artifact(world: World, model: Model) -> bytes | None:
    """Return the artifact of the served version."""
    model = read(world, model)
    return world.stores.model_files.artifact(model.model_id, model.version)


def refuse(*_: object, **__: object) -> None:
    """Fail like a bucket or table that does not answer."""
    raise StorageUnavailable


def test_uploaded_texts_count_as_those_of_a_dataset(world: World, view) -> None:
    """Uploaded texts give the same model as texts of a dataset; nothing of the upload remains."""
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
    """A waiting run uses its own copy after its upload has expired."""
    model = world.train(view, wanted(send(world))).model
    world.messages()
    world.clock.advance(hours=30)
    world.settle()

    assert (read(world, model).status, read(world, model).failure) == (SUCCEEDED, "")


def test_a_retraining_uses_the_texts_of_its_own_call(world: World, view) -> None:
    """A retraining stores its texts for its own run, and deletes them at its end."""
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
    """After a crash the sweep restarts the run, which reads the stored texts again."""
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
    """A run without attempts left is FAILED and deletes its texts."""
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
    """If the stored texts are lost, the run fails with a remedy."""
    model = world.train(view, wanted(send(world))).model
    for key in copies(world):
        world.stores.artifacts.delete(key)
    world.work()

    assert read(world, model).status == FAILED
    assert "Upload them, and train again" in read(world, model).failure


def test_a_deleted_model_leaves_no_texts(
    world: World, view, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts left by an interrupted clean-up are deleted with the model."""
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
    """Closing an account during its training deletes the texts."""
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
    """A restored stack finishes a waiting run, although the upload itself is not restored."""
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
    """An unusable file is refused with limit, value and remedy; the upload can be used again."""
    path = send(world, content)
    for _ in range(2):
        with pytest.raises(refusal, match=words):
            world.train(view, wanted(path))
    assert world.rows(ModelRow) == []
    assert copies(world) == []


def test_texts_that_repeat_or_cannot_be_read(world: World, view) -> None:
    """Equal texts are stored once; rows with an empty or too long text are skipped."""
    rows = [*TEXTS, *TEXTS, ("", "none"), ("a" * 20_001, "long")]
    world.train(view, wanted(send(world, a_csv([("text", "label"), *rows]))))

    [key] = copies(world)
    assert json.loads(world.stores.artifacts.get(key) or b"") == [text for text, _ in TEXTS]


def test_foreign_and_unknown_paths_are_alike(world: World, view) -> None:
    """Another account's upload gets the answer of an unknown path, and stays usable."""
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
    """If the answer of the row's write is lost, the run still finds its texts."""
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
    """Of two simultaneous retrainings with one path, one is refused and deletes nothing."""
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
    """A file that is not read in time is a timeout with a remedy, and can be used again."""
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
