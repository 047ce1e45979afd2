"""Image and document batches: equal to single calls, invalid files, life cycle."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PIL import Image

from chalicelib.domain.datasets.upload import UploadSource
from chalicelib.domain.documents.ocr import OcrRequest
from chalicelib.domain.documents.sample import Sample
from chalicelib.domain.jobs.batch import Batch
from chalicelib.domain.models.prediction import PredictionOptions
from chalicelib.errors import (
    BatchNotFound,
    InvalidParameter,
    InvalidUpload,
    MachineBusy,
    ModelNotFound,
    TooLarge,
    UnsupportedType,
)
from chalicelib.formats.archives.batch_members import read_members
from chalicelib.formats.pictures.rules import too_large
from chalicelib.services.batches import pictures
from chalicelib.stores.aws.tables import BatchRow
from chalicelib.web.records import describe
from chalicelib.web.records.describe_ocr import ocr_answer
from tests.pdfs import text_pdf
from tests.pictures import draw, encoded, make_zip
from tests.services.batches.conftest import Batches
from tests.tiny_ocr import TinyEngine, TinyPool


@pytest.fixture
def reader(shots: Batches) -> TinyEngine:
    """An OCR engine that returns the page's brightness, so that answers differ."""
    engine = TinyEngine(lambda pixels, check: (f"mean {pixels.mean():.3f}", "second line"))
    shots.world.container.readers = TinyPool(engine)
    return engine


def _archive(count: int) -> dict[str, bytes]:
    """Return an archive with a number of images, each of another size."""
    shapes = ("circle", "square", "cross")
    return {
        f"shots/{n:03d}.png": draw(shapes[n % 3], ("red", "green")[n % 2], (40 + n, 32), salt=n)
        for n in range(count)
    }


def _send(shots: Batches, files: Mapping[str, bytes] | bytes, **options: Any) -> Batch:
    content = files if isinstance(files, bytes) else make_zip(files)
    return shots.send(content, name="shots.zip", **options)


def _single(shots: Batches, content: bytes, count: int | None = None) -> bytes:
    """Predict an image with a single call and return the answer as sent."""
    world = shots.world
    model = world.container.stores.served_models.find(
        world.account.account_id, shots.model.model_id
    )
    service, sample = world.container.picture_predictions, Sample(content=content)
    [found] = service.predict(
        model,
        [sample],
        types=(model.type,),
        options=PredictionOptions(count),
        account=world.account,
    )
    record: Any
    if model.type == "image-detection":
        record = describe.detection(found.items, msgspec.UNSET)
    else:
        record = describe.prediction(found.items, msgspec.UNSET)
    return msgspec.json.encode(record.probabilities)


def test_each_picture_is_answered_as_the_single_call_does(shots: Batches) -> None:
    """Each file has one line, in archive order, equal to the single call, counted once."""
    files = _archive(57)
    made = _send(shots, files, count=1)
    assert (made.status, made.total, made.kind, made.name) == ("RUNNING", 57, "predict", "shots")
    shots.world.work()

    done, used = shots.get(made), shots.used()
    assert (done.status, done.lines_done, done.lines_failed, used) == ("SUCCEEDED", 57, 0, 57)
    expected = [
        b'{"id":"%s","probabilities":%s}' % (name.encode(), _single(shots, content, 1))
        for name, content in files.items()
    ]
    assert shots.content(made).splitlines() == expected
    assert len(shots.world.objects("batches/")) == 1


def test_objects_are_found_as_the_single_call_finds_them(shots: Batches) -> None:
    """A detection model answers with boxes; an image without objects has an empty list."""
    world, blue = shots.world, encoded(Image.new("RGB", (32, 32), (0, 0, 255)))
    box = b'{"label": "red", "x": 2, "y": 2, "width": 9, "height": 9}'.decode()
    rows = "".join(f'{n}.png,"{box.replace(chr(34), chr(34) * 2)}"\n' for n in range(12))
    scenes = {f"{n}.png": draw("square", "red", salt=n) for n in range(12)}
    scenes["annotations.csv"] = f"image_file,box0\n{rows}".encode()
    view = world.pictures(scenes, "image-detection")
    world.work()
    shots.model = world.model(view)
    files = {**_archive(7), "none.png": blue}
    made = _send(shots, files)
    world.work()

    assert shots.get(made).kind == "detect"
    expected = [
        b'{"id":"%s","probabilities":%s}' % (name.encode(), _single(shots, content))
        for name, content in files.items()
    ]
    assert shots.content(made).splitlines() == expected
    assert expected[-1].endswith(b'"probabilities":[]}')
    assert b"boundingBox" in expected[0]


def test_documents_are_read_as_the_single_call_reads_them(
    shots: Batches, reader: TinyEngine
) -> None:
    """Images and PDFs are read with all requested fields, and are not counted."""
    world = shots.world
    files = {
        **_archive(3),
        "letter.pdf": text_pdf(["Invoice 17", "Total 20.00"], ["Page two"]),
        "broken.pdf": b"%PDF-1.4 nothing",
        "notes.txt": b"no document",
    }
    fields: dict[str, Any] = {"task": "text", "form_type": None, "links_tables": False}
    fields |= {"alphabet": "latin", "layout": True, "output": "markdown", "has_pages": True}
    made = shots.create(
        UploadSource(content=make_zip(files), file_name="papers.zip"),
        model_id="OCRModel",
        reading=fields,
    )
    world.work()

    lines, model = (
        shots.content(made).splitlines(),
        world.container.stores.served_models.find(world.account.account_id, "OCRModel"),
    )
    request = OcrRequest("text", None, False, "latin", True, "markdown", True)
    for line, (name, content) in list(zip(lines, files.items(), strict=True))[:4]:
        found = world.container.ocr.read(model, Sample(content=content), request, lambda: 25.0)
        sent = msgspec.json.encode(ocr_answer("text", found))
        expected = sent.replace(b'"object":"predictresponse",', b"")[1:]
        assert line == b'{"id":"%s",' % name.encode() + expected
    codes = [json.loads(line)["error"]["code"] for line in lines[4:]]
    assert codes == ["broken_document", "unsupported_document_type"]
    assert (shots.get(made).status, shots.get(made).lines_failed, shots.used()) == (
        "SUCCEEDED",
        2,
        0,
    )


def test_a_document_is_retried_on_a_busy_machine(
    shots: Batches, reader: TinyEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the document that met a busy machine is read again; out of time the part is repeated."""
    monkeypatch.setattr(pictures, "BUSY_SECONDS", 0.01)
    ocr, met = shots.world.container.ocr, [0, 0]
    read_content = ocr.read_content

    def busy(model: Any, content: bytes, *more: Any) -> Any:
        """Raise the busy error twice at the second document."""
        place = list(files.values()).index(content)
        met[place] += 1
        if place and met[1] < 3:
            raise MachineBusy("The PDF")
        return read_content(model, content, *more)

    monkeypatch.setattr(ocr, "read_content", busy)
    files, fields = _archive(2), {"task": "text", "links_tables": False}
    made = shots.create(
        UploadSource(content=make_zip(files), file_name="papers.zip"),
        model_id="OCRModel",
        reading=fields,
    )
    shots.world.work()

    assert (shots.get(made).status, shots.get(made).lines_failed, met) == ("SUCCEEDED", 0, [1, 3])
    monkeypatch.setattr(pictures, "DOCUMENT_SECONDS", 0.0)
    met[1] = 0
    shots.create(
        UploadSource(content=make_zip(files), file_name="papers.zip"),
        model_id="OCRModel",
        reading=fields,
    )
    with pytest.raises(MachineBusy):
        shots.world.work()


def test_bad_files_say_what_the_single_call_says(shots: Batches) -> None:
    """Each invalid file is a line with its error and costs nothing; the others are answered."""
    files = {
        "good.png": draw("square", "red"),
        "half.png": draw("square", "red")[:60],
        "text.txt": b"hello",
        "empty.png": b"",
        "large.png": b"\x89PNG\r\n\x1a\n" + b"x" * (5 * 1024 * 1024),
        "long.png": encoded(Image.new("RGB", (1, 200))),
        "last.png": draw("circle", "green"),
    }
    made = _send(shots, files)
    shots.world.work()

    lines = shots.lines(made)
    assert [line["id"] for line in lines] == list(files)
    codes = [line.get("error", {}).get("code") for line in lines]
    assert codes == [
        None,
        "broken_image",
        "unsupported_image_type",
        "empty_image",
        "image_too_large",
        "image_too_narrow",
        None,
    ]
    for line, content in zip(lines, files.values(), strict=True):
        if "error" in line:
            with pytest.raises(Exception) as single:  # noqa: PT011 - compared below
                _single(shots, content)
            assert line["error"]["message"] == str(single.value)
    assert (shots.get(made).lines_failed, shots.used()) == (5, 2)


def test_damaged_entries_cost_only_themselves(shots: Batches) -> None:
    """A damaged entry, or one with a path outside the archive, fails only its line."""
    good = make_zip(_archive(3), method=zipfile.ZIP_STORED)
    place = good.index(b"shots/001.png") + 60
    bad = good[:place] + bytes([good[place] ^ 255]) + good[place + 1 :]
    made = _send(shots, bad)
    shots.world.work()

    codes = [line.get("error", {}).get("code") for line in shots.lines(made)]
    assert codes == [None, "invalid_file", None]


@pytest.mark.parametrize(
    ("content", "kind", "text"),
    [
        (b"", InvalidUpload, "0 bytes"),
        (make_zip({}), InvalidUpload, "holds no file"),
        (make_zip({"folder/": b"", "__MACOSX/._a.png": b"x"}), InvalidUpload, "holds no file"),
        (b"text\nhello\n", UnsupportedType, "not a zip archive"),
        (draw("circle", "red"), UnsupportedType, "PNG"),
        (make_zip({"a.png": b"x"})[:-30], InvalidUpload, "not a usable zip archive"),
        (b"PK\x03\x04" + b"\0" * (50 * 1024 * 1024), TooLarge, "50 MB"),
    ],
)
def test_malformed_input_is_refused(
    shots: Batches, content: bytes, kind: type[Exception], text: str
) -> None:
    """An empty or broken archive is refused within the call, and nothing is stored."""
    with pytest.raises(kind, match=text):
        _send(shots, content)
    assert (shots.world.rows(BatchRow), shots.world.objects("batches/")) == ([], [])
    assert shots.used() == 0


def test_pictures_of_a_dataset_are_answered_once_each(shots: Batches) -> None:
    """Images have list order and the id of their first example; a deleted one has an error."""
    world, dataset = shots.world, shots.view.dataset
    made = shots.create(shots.view)
    found = list(world.stores.examples.read_all(dataset.dataset_id, "upload", dataset.counts))
    [prepare] = world.messages()
    world.deliver(prepare)
    world.stores.pictures.delete(dataset.dataset_id, [found[3].picture])
    world.work()

    lines = shots.lines(made)
    assert [line["id"] for line in lines] == [str(one.example_id) for one in found]
    assert [line.get("error", {}).get("code") for line in lines].count("example_not_found") == 1
    content = world.stores.pictures.get(dataset.dataset_id, found[0].picture)
    assert content is not None
    used = shots.used()
    assert json.loads(_single(shots, content)) == lines[0]["probabilities"]
    assert (used, shots.get(made).lines_failed) == (len(found) - 1, 1)


def test_csv_holds_the_most_probable_label(shots: Batches) -> None:
    """CSV results exist for predictions, not for OCR."""
    made = _send(shots, _archive(2), format="csv")
    shots.world.work()
    rows = shots.content(made).decode().splitlines()
    assert rows[0] == "row,id,label,probability,code,message"
    assert rows[1].startswith("1,shots/000.png,")
    assert len(rows) == 3


def test_models_that_cannot_answer_are_refused(shots: Batches) -> None:
    """Models of another type or account, and text models, are refused."""
    with pytest.raises(InvalidParameter, match="image-detection"):
        _send(shots, _archive(1), kind="detect")
    with pytest.raises(InvalidParameter, match="batch of images"):
        _send(shots, _archive(1), model_id="CommunitySentiment")
    with pytest.raises(ModelNotFound):
        _send(shots, _archive(1), account=shots.world.new_account("other@example.com"))
    assert shots.world.rows(BatchRow) == []


def test_a_deleted_model_ends_the_batch(shots: Batches) -> None:
    """Deleting the model fails the batch; nothing is counted or stored."""
    made = _send(shots, _archive(25))
    shots.world.container.deletions.delete_model(shots.world.account, shots.model.model_id)
    shots.world.work()

    found = shots.get(made)
    assert (found.status, found.is_open, found.result) == ("FAILED", False, "")
    assert f"Model {shots.model.model_id} was deleted" in found.message
    assert (shots.used(), shots.world.objects("batches/")) == (0, [])


def test_a_batch_that_is_cancelled_while_it_ends(shots: Batches) -> None:
    """After a cancellation answered lines are stored and count; a late part adds nothing."""
    world = shots.world
    made = _send(shots, _archive(25))
    first, *late = world.messages()
    world.deliver(first)
    world.container.batches.delete(shots.get(made))
    for message in late:
        world.deliver(message)
    world.work()

    found = shots.get(made)
    assert (found.status, found.is_open, len(shots.lines(made))) == ("CANCELLED", False, 10)
    assert shots.used() == 10
    assert len(world.objects("batches/")) == 1


def test_a_part_whose_worker_died_is_answered_again(shots: Batches) -> None:
    """A part that was written but not counted is written again with equal bytes."""
    world = shots.world
    made = _send(shots, _archive(25))
    message = world.messages()[0]
    done, world.stores.batches.mark_answered = world.stores.batches.mark_answered, _dead
    with pytest.raises(ConnectionError):
        world.deliver(message)
    key = f"batches/{made.batch_id}/results/00000"
    before = world.stores.artifacts.get(key)
    world.stores.batches.mark_answered = done
    world.deliver(message, delivery=2)

    assert before
    assert world.stores.artifacts.get(key) == before
    assert shots.get(made).numbers_done == {0}


def _dead(*_: object) -> None:
    raise ConnectionError


def test_results_expire_after_thirty_days(shots: Batches) -> None:
    """An expired batch cannot be read, and the sweep deletes its files."""
    world = shots.world
    made = _send(shots, _archive(2))
    world.work()
    world.clock.advance(days=30, seconds=1)
    with pytest.raises(BatchNotFound):
        world.container.batches.get(world.account, "vision", made.batch_id)
    world.container.sweeping.run()
    assert world.objects("batches/") == []


def test_archives_of_many_files_are_made_ready_in_the_background(
    shots: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For large archives the call returns before the parts are written; the result is the same."""
    monkeypatch.setattr(pictures, "PARTS_IN_CALL", 1)
    made = _send(shots, _archive(11))
    assert (made.status, made.total) == ("QUEUED", 0)
    shots.world.work()
    assert (shots.get(made).status, len(shots.lines(made))) == ("SUCCEEDED", 11)


def test_batches_of_a_family_are_those_of_its_own(shots: Batches) -> None:
    """An archive of images is refused as a text batch."""
    made, world = _send(shots, _archive(1)), shots.world
    with pytest.raises(BatchNotFound):
        world.container.batches.get(world.account, "language", made.batch_id)
    assert world.container.batches.list(world.account, "language", 0, 9).items == ()
    assert len(world.container.batches.list(world.account, "vision", 0, 9).items) == 1


def test_datasets_of_too_many_pictures_are_refused(
    shots: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch of a dataset with too many images is FAILED with the limit; nothing is stored."""
    monkeypatch.setattr(pictures, "MAX_BATCH_FILES", 17)
    made = shots.create(shots.view)
    shots.world.work()
    found = shots.get(made)
    assert (found.status, "more than 17 images" in found.message) == ("FAILED", True)
    assert (shots.used(), shots.world.objects("batches/")) == (0, [])


def test_an_archive_is_read_one_file_at_a_time(tmp_path: Path) -> None:
    """Reading an archive of sixty 1 MB files takes only a few megabytes of memory."""
    place = tmp_path / "large.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for number in range(60):
            archive.writestr(f"{number}.png", bytes([number]) * (1 << 20))
    with place.open("rb") as file:
        tracemalloc.start()
        count = sum(1 for _ in read_members(file, 5 << 20, too_large))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert (count, peak < 6 << 20) == (60, True), peak
