"""Large files sent with a form, in uploads and predictions."""

from __future__ import annotations

import json

import pytest
from pynamodb.exceptions import UpdateError

from chalicelib import workers
from chalicelib.domain.datasets.dataset import LANGUAGE, VISION, DatasetView
from chalicelib.domain.datasets.receipt import IngestPlan
from chalicelib.domain.datasets.upload import USED, UploadFields, UploadSource
from chalicelib.domain.documents.sample import Sample
from chalicelib.domain.jobs.messages import decode_job
from chalicelib.errors import DownloadFailed, StorageUnavailable, TooLarge
from chalicelib.services.uploads.readers import TextReader
from chalicelib.stores.aws.tables import UploadFormRow
from tests.builders import World, a_csv, some_rows
from tests.pictures import draw, make_zip

ROWS = some_rows({"book": 6, "cancel": 5})


def sent(world: World, content: bytes, name: str | None = "mine.csv") -> str:
    """Issue a form, upload a file with it, and return its path."""
    form = world.container.upload_forms.issue(world.account, name)
    world.stores.clients.s3.put_object(
        Bucket=world.settings.bucket, Key=form.fields["key"], Body=content
    )
    return form.path


def upload(world: World, path: str, family: str = LANGUAGE) -> DatasetView:
    """Create a dataset from an uploaded file."""
    kind = "text-intent" if family == LANGUAGE else "image"
    source = UploadSource(path=path)
    return world.container.uploads.create(world.account, family, source, UploadFields(None, kind))


def test_a_file_becomes_a_dataset_once(world: World) -> None:
    """A sent file becomes a dataset with its name, is deleted, and cannot be used again."""
    path = sent(world, a_csv(ROWS))

    view = upload(world, path)
    world.work()

    assert world.get(view).dataset.name == "mine"
    assert world.get(view).dataset.total == len(ROWS)
    assert world.objects("incoming/") == []
    with pytest.raises(DownloadFailed, match="used already"):
        upload(world, path)


def test_a_file_of_the_wrong_kind_is_not_used_up(world: World) -> None:
    """A refused call leaves the file, so that the call can be repeated."""
    path = sent(world, make_zip({"a/1.png": draw(), "b/2.png": draw(salt=1)}), "shapes.zip")

    with pytest.raises(DownloadFailed, match="zip archive"):
        upload(world, path)

    assert upload(world, path, VISION).dataset.name == "shapes"


def test_a_file_over_the_limit_of_texts_is_refused(world: World) -> None:
    """A form accepts 2 GB, a text dataset 25 MB."""
    path = sent(world, b"a" * (25 * 1024**2 + 1))

    with pytest.raises(TooLarge, match="26214401 bytes; at most 26214400"):
        upload(world, path)


def test_a_failed_acceptance_releases_the_file(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the row of the dataset cannot be written, the same path can be used again."""
    path = sent(world, a_csv(ROWS))

    def refuse(*_: object) -> None:
        raise StorageUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(world.stores.datasets, "reserve", refuse)
        with pytest.raises(StorageUnavailable):
            upload(world, path)

    view = upload(world, path)
    world.work()
    assert world.get(view).dataset.total == len(ROWS)


def test_a_file_that_is_replaced_after_its_acceptance(world: World) -> None:
    """A file replaced after its acceptance is not read, and the upload fails."""
    path = sent(world, a_csv(ROWS))
    view = upload(world, path)
    [key] = world.objects("incoming/")
    world.stores.clients.s3.put_object(Bucket=world.settings.bucket, Key=key, Body=b"x,other\n")

    world.work()

    status = world.get(view).dataset.status_message
    assert status.startswith("FAILED: ")
    assert "sent twice" in world.container.receipts.list(view, 0, 25).items[0].message


def test_a_repeated_attempt_reads_the_copied_file(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repeated attempt reads the service's own copy of the file."""
    view = upload(world, sent(world, a_csv(ROWS)))
    attempts: list[list[str]] = []
    read = TextReader.read

    def fail_once(*given: object) -> IngestPlan:
        attempts.append(world.objects("incoming/"))
        if len(attempts) == 1:
            raise StorageUnavailable
        return read(*given)

    monkeypatch.setattr(TextReader, "read", fail_once)
    world.work_on()

    assert attempts == [[], []]
    assert world.get(view).dataset.total == len(ROWS)


@pytest.mark.parametrize("adds", [False, True])
def test_a_claim_whose_reply_was_lost_is_undone(
    world: World, monkeypatch: pytest.MonkeyPatch, adds: bool
) -> None:
    """If the reply of the claim is lost, the path can be used again."""
    view, path = world.dataset(ROWS), sent(world, a_csv([("another one", "book")]))
    source, update = UploadSource(path=path), UploadFormRow.update

    def lose(row: UploadFormRow, *given: object, **more: object) -> object:
        answer = update(row, *given, **more)
        if row.status == USED:
            raise UpdateError
        return answer

    def call() -> None:
        if adds:
            world.container.uploads.add(world.account, world.get(view), source)
        else:
            upload(world, path)

    with monkeypatch.context() as patch:
        patch.setattr(UploadFormRow, "update", lose)
        with pytest.raises(StorageUnavailable):
            call()

    call()


def test_a_file_is_added_to_a_dataset(world: World) -> None:
    """PUT also accepts an uploaded file."""
    view = world.dataset(ROWS)
    path = sent(world, a_csv([("one more", "book")]))

    world.container.uploads.add(world.account, world.get(view), UploadSource(path=path))
    world.work()

    assert world.get(view).dataset.total == len(ROWS) + 1


def test_a_sample_is_read_once_by_its_owner(world: World) -> None:
    """Only its owner can use an uploaded sample, once, within the call's own limit."""
    files = world.stores.sample_files
    mine = Sample(location=sent(world, b"a picture"), account_id=world.account.account_id)
    other = Sample(location=mine.location, account_id="9")

    with pytest.raises(DownloadFailed, match="No upload") as failed:
        files.content(other, 100, "the image")
    assert failed.value.message == "Failed to download the image from the public URL."
    with pytest.raises(TooLarge):
        files.content(mine, 3, "the image")
    assert files.content(mine, 100, "the image") == b"a picture"
    with pytest.raises(DownloadFailed, match="used already"):
        files.content(mine, 100, "the image")


def test_a_notification_marks_the_file_as_received(world: World) -> None:
    """A notification with an encoded key marks its file; foreign keys and test messages do not."""
    path = sent(world, a_csv(ROWS))
    key = world.objects("incoming/")[0]
    note = {"Records": [{"s3": {"object": {"key": key.replace("/", "%2F"), "eTag": "other"}}}]}
    foreign = {"Records": [{"s3": {"object": {"key": "datasets/1"}}}]}

    for body in ({"Event": "s3:TestEvent"}, foreign, note):
        job = decode_job(json.dumps(body), *workers.HANDLED["receive"])
        workers.run(world.container, job, lambda: 900.0)

    # The version that was noted is not the one that lies there now.
    with pytest.raises(DownloadFailed, match="sent twice"):
        upload(world, path)
