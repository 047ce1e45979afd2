"""Reading files: labels, duplicates, receipts, attempts, and expected counts."""

from __future__ import annotations

import pytest

from chalicelib.domain.datasets import growth
from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.datasets.upload import UploadFields, UploadSource
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.tables import DatasetRow, LabelRow
from tests.builders import World, a_csv, a_source, some_rows

ROWS = some_rows({"book": 5, "cancel": 5})


def test_labels_in_order_of_first_appearance(world: World) -> None:
    """Labels have the order of the file, whatever their names."""
    view = world.dataset([("1", "z"), ("2", "a"), ("3", "m"), ("4", "a"), ("5", "z")])

    assert [(label.name, label.examples) for label in view.labels] == [("z", 2), ("a", 2), ("m", 1)]
    ids = [label.label_id for label in view.labels]
    assert ids == sorted(ids)


def test_duplicates_are_exact(world: World) -> None:
    """Only the same text with the same label is a duplicate: case and spaces matter."""
    view = world.dataset(
        [
            ("hello", "a"),
            ("Hello", "a"),
            ("hello ", "a"),
            ("hello", "b"),
            ("hello", "a"),
            ("hello", "A"),
            ("hello", "a"),
        ]
    )

    assert (view.dataset.total, view.dataset.duplicates) == (5, 2)


def test_receipt_names_the_first_rejections(world: World) -> None:
    """Each row is accepted, duplicate or rejected; the first hundred rejections are listed."""
    rows = [*ROWS, *[("one cell",)] * 150, ROWS[0], ROWS[1]]

    view = world.dataset(rows)

    [receipt] = world.container.receipts.list(view, 0, 25).items
    assert (receipt.status, receipt.message) == ("SUCCEEDED", None)
    assert (receipt.seen, receipt.kept, receipt.duplicates, receipt.rejected) == (162, 10, 2, 150)
    assert [rejection.row for rejection in receipt.rejections] == list(range(11, 111))
    assert view.dataset.duplicates == 2


def test_labels_that_cutting_would_merge(world: World) -> None:
    """A label over 180 characters is truncated unless it would equal another one."""
    long, same, other = "x" * 200, "x" * 201, "y" * 200

    view = world.dataset([("1", long), ("2", same), ("3", other), ("4", "y" * 200)])

    [label] = view.labels
    assert (label.name, label.examples) == ("y" * 180, 2)
    [receipt] = world.container.receipts.list(view, 0, 25).items
    assert (receipt.kept, receipt.rejected) == (2, 2)


def test_one_label_above_the_limit_is_refused(world: World) -> None:
    """1,001 labels are refused with both numbers, and nothing is stored."""
    view = world.dataset([(f"text {number}", f"label {number}") for number in range(1_001)])

    assert view.dataset.status == "FAILED"
    assert view.dataset.message.startswith("The dataset would have 1,001 labels; at most 1,000")
    assert view.labels == ()
    assert world.rows(LabelRow) == []


def test_put_over_the_label_limit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Existing labels count toward the limit of a PUT, which then changes nothing."""
    monkeypatch.setattr(growth, "MAX_LABELS", 10)
    view = world.dataset([(f"text {number}", f"label {number}") for number in range(10)])

    world.container.uploads.add(world.account, view, a_source([("x", "label 7"), ("y", "new")]))
    world.work()

    view = world.get(view)
    assert view.dataset.status_message.startswith("FAILED: The dataset would have 11 labels")
    assert (view.dataset.available, view.dataset.total, len(view.labels)) == (True, 10, 10)


def test_sentiments_are_stored_in_lower_case(world: World) -> None:
    """Sentiments are written in any case; another label rejects its row."""
    rows = [("1", "Positive"), ("2", "NEGATIVE"), ("3", "neutral"), ("4", "meh")]

    view = world.dataset(rows, fields=UploadFields("s", "text-sentiment"))

    assert [label.name for label in view.labels] == ["positive", "negative", "neutral"]
    [receipt] = world.container.receipts.list(view, 0, 25).items
    assert (receipt.kept, receipt.rejected) == (3, 1)


def test_words_and_bytes_are_added_up(world: World) -> None:
    """Accepted texts count, duplicates do not; bytes are those of UTF-8."""
    view = world.dataset([("one two", "a"), ("żółw", "b"), ("one two", "a")])

    assert view.dataset.words_upload == 3
    assert view.dataset.bytes == len(b"one two") + len("żółw".encode())


def test_file_is_read_again_after_failures(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repeated attempt uses the same ids and stores nothing twice."""
    put = world.stores.examples.put_chunk
    broken = [1]

    def put_chunk(*args: object) -> bytes:
        """Break once, after the first chunk was written."""
        digests = put(*args)
        if broken:
            broken.pop()
            raise StorageUnavailable
        return digests

    monkeypatch.setattr(world.stores.examples, "put_chunk", put_chunk)
    view = world.upload(ROWS)
    world.work_on()

    view = world.get(view)
    assert (view.dataset.status, view.dataset.total) == ("SUCCEEDED", 10)
    page = world.container.examples.list_dataset(world.account, view, "upload", 0, 100)
    ids = [item.example.example_id for item in page.items]
    assert ids == list(range(ids[0], ids[0] + 10))
    assert len(world.rows(LabelRow)) == 2


def test_upload_out_of_attempts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """After three attempts the upload is FAILED, with the cause in dataset and receipt."""

    def refuse(*args: object) -> None:
        """Fail always."""
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(world.stores.examples, "put_chunk", refuse)
    view = world.upload(ROWS)
    [message] = world.messages()
    for _ in range(3):
        assert world.get(view).dataset.status == "UPLOADING"
        with pytest.raises(RuntimeError):
            world.deliver(message)

    view = world.get(view)
    assert view.dataset.status_message == (
        "FAILED: The file could not be read in 3 attempts (RuntimeError: the disk is full). "
        "Upload it again."
    )
    [receipt] = world.container.receipts.list(view, 0, 25).items
    assert (receipt.status, receipt.message) == ("FAILED", view.dataset.message)
    world.deliver(message)
    assert world.get(view) == view


def test_end_whose_reply_was_lost_stays(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the commit of the last attempt is not confirmed, the data stays."""
    view = world.upload(ROWS)
    [message] = world.messages()
    commit = world.stores.dataset_leases.commit_upload

    def commit_and_fail(*args: object) -> None:
        """Commit and lose the reply."""
        commit(*args)
        raise StorageUnavailable

    monkeypatch.setattr(world.stores.dataset_leases, "commit_upload", commit_and_fail)
    row = world.rows(DatasetRow)[0]
    row.update([DatasetRow.attempts.set(2)])
    with pytest.raises(StorageUnavailable):
        world.deliver(message)
    world.settle()

    view = world.get(view)
    assert (view.dataset.status_message, view.dataset.total) == ("SUCCEEDED", 10)
    [receipt] = world.container.receipts.list(view, 0, 25).items
    assert (receipt.status, receipt.kept) == ("SUCCEEDED", 10)


def test_lost_raw_file_fails_the_upload(world: World) -> None:
    """If storage has lost the file, the upload fails instead of being retried forever."""
    view = world.upload(ROWS)
    world.stores.artifacts.delete_prefix("datasets/")

    world.work()

    assert "no longer stored" in world.get(view).dataset.message


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings_of_a_file(world: World, encoding: str) -> None:
    """The same file in any accepted encoding gives the same texts."""
    content = a_csv([("café à la crème", "drink"), ("thé", "drink")]).decode().encode(encoding)

    view = world.container.uploads.create_sync(
        world.account,
        LANGUAGE,
        UploadSource(content=content, file_name="f.csv"),
        UploadFields("f", "text-intent", "fr"),
        25,
    )

    page = world.container.examples.list_dataset(world.account, view, "upload", 0, 100)
    assert [item.location for item in page.items] == ["café à la crème", "thé"]
