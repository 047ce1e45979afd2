"""Rankings: selection, cost, life cycle."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from chalicelib.domain.datasets.upload import UploadFields, UploadSource
from chalicelib.domain.jobs.ranking import check_ranked
from chalicelib.domain.models.model import ServedModel
from chalicelib.errors import InvalidParameter, PredictionQuotaExceeded, StorageUnavailable
from chalicelib.services.batches import rankings
from chalicelib.stores.aws.objects import batch_prefix
from chalicelib.stores.aws.tables import BatchRow
from tests.builders import some_rows
from tests.pictures import draw, make_zip
from tests.services.batches.conftest import Batches, texts


def test_the_lines_most_worth_labelling_come_first(batches: Batches) -> None:
    """Lines have rank, score, reason, text and the prediction of a single call."""
    asked = texts(37)
    made = batches.send(asked, kind="rank", count=8)
    assert (made.status, made.total, made.kind) == ("RUNNING", 37, "rank")
    batches.world.work()

    done = batches.get(made)
    assert (done.status, done.lines_done, done.lines_failed) == ("SUCCEEDED", 37, 0)
    assert batches.used() == 37
    lines = batches.lines(made)
    assert 1 <= len(lines) <= 8
    assert [line["rank"] for line in lines] == list(range(1, len(lines) + 1))
    scores = [line["score"] for line in lines]
    assert scores == sorted(scores, reverse=True)
    for line in lines:
        assert line["text"] == asked[line["row"] - 1]
        assert line["reason"] in ("uncertain", "unlike", "representative")
        [best] = batches.world.answer(batches.model.model_id, line["text"], 1)
        assert (line["suggestion"], line["confidence"]) == (best.label, best.probability)
    assert len(batches.world.objects("batches/")) == 1


def test_a_repeated_text_is_selected_once(batches: Batches) -> None:
    """Near-duplicates are omitted, so fewer lines than requested may be returned; ids are kept."""
    content = "".join(f'{{"id": "n{n}", "text": "book it please"}}\n' for n in range(30))
    made = batches.send(content.encode() + b'{"id": "x", "text": "cancel that"}', kind="rank")
    batches.world.work()

    lines = batches.lines(made)
    assert {line["text"] for line in lines} == {"book it please", "cancel that"}
    assert len(lines) == 2
    assert "row" not in lines[0]


def test_the_same_lines_give_the_same_ranking(batches: Batches) -> None:
    """Repeating a ranking gives equal bytes."""
    first, second = (batches.send(texts(33), kind="rank", count=9) for _ in range(2))
    batches.world.work()
    assert batches.content(first) == batches.content(second)


def test_the_csv_uploads_again_once_its_labels_are_right(batches: Batches) -> None:
    """With columns `text` and `label` the CSV can be corrected and uploaded again."""
    made = batches.send(texts(25), kind="rank", count=5, format="csv")
    batches.world.work()

    content = batches.content(made)
    rows = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    assert list(rows[0]) == [
        "rank", "row", "id", "text", "label", "confidence", "score", "reason",
    ]  # fmt: skip
    source = UploadSource(content=content, file_name="ranked.csv")
    world = batches.world
    view = world.container.uploads.create(
        world.account, "language", source, UploadFields("ranked", "text-intent")
    )
    world.work()
    assert sum(one.count("upload") for one in world.get(view).dataset.counts) == len(rows)


def test_lines_without_an_answer_are_not_ranked_and_cost_nothing(batches: Batches) -> None:
    """Lines with errors, and lines beyond the quota, count as failed and cost nothing."""
    limit = batches.world.account.predictions_per_month
    batches.use(limit - 5)
    made = batches.send(["", *texts(12)], kind="rank", is_partial=True)
    with pytest.raises(PredictionQuotaExceeded):
        batches.send(["late"], kind="rank")
    batches.world.work()

    assert {line["row"] for line in batches.lines(made)} <= {2, 3, 4, 5}
    assert (batches.get(made).lines_done, batches.get(made).lines_failed) == (13, 9)
    assert batches.used() == limit - 1


def test_nothing_to_rank_is_an_empty_result(batches: Batches) -> None:
    """If no line could be answered, the result is empty."""
    made = batches.send(["", " "], kind="rank")
    batches.world.work()
    assert (batches.get(made).status, batches.content(made)) == ("SUCCEEDED", b"")


def test_a_cancelled_ranking_has_no_result_and_costs_nothing(batches: Batches) -> None:
    """Lines are ranked when all are answered, so a cancelled ranking has no result."""
    world = batches.world
    made = batches.send(texts(55), kind="rank")
    messages = world.messages()
    world.deliver(messages[0])
    assert batches.used() == 55
    world.container.batches.delete(batches.get(made))
    for message in messages[1:]:
        world.deliver(message)
    world.work()

    found = batches.get(made)
    assert (found.status, found.is_open, batches.used()) == ("CANCELLED", False, 0)
    assert (found.result, world.objects("batches/")) == ("", [])


def test_a_model_that_is_deleted_ends_the_ranking(batches: Batches) -> None:
    """Deleting the model fails the ranking; nothing is counted and no file remains."""
    world = batches.world
    made = batches.send(texts(25), kind="rank")
    first, *others = world.messages()
    world.deliver(first)
    world.container.deletions.delete_model(world.account, batches.model.model_id)
    for message in others:
        world.deliver(message)
    world.work()

    assert (batches.get(made).status, batches.used()) == ("FAILED", 0)
    assert "was deleted before the batch was answered" in batches.get(made).message
    assert world.objects("batches/") == []


def test_a_worker_that_dies_while_selecting_is_replaced(
    batches: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a crash during selection the repeated message gives the same ranking."""
    world = batches.world
    whole = batches.send(texts(25), kind="rank", count=6)
    world.work()
    made = batches.send(texts(25), kind="rank", count=6)
    messages = world.messages()
    with monkeypatch.context() as broken:

        def die(*_: object) -> None:
            raise StorageUnavailable

        broken.setattr(rankings.RankingWork, "_lines", die)
        *others, last = messages
        for message in others:
            world.deliver(message)
        with pytest.raises(StorageUnavailable):
            world.deliver(last)
    assert batches.get(made).status == "RUNNING"
    world.deliver(last, delivery=2)

    assert (batches.get(made).status, batches.used()) == ("SUCCEEDED", 50)
    assert batches.content(made) == batches.content(whole)


def test_a_repeated_part_writes_the_same_bytes(batches: Batches) -> None:
    """A repeated part has equal bytes, whichever worker computes it."""
    world, artifacts = batches.world, batches.world.stores.artifacts
    made = batches.send(texts(25), kind="rank")
    first, *_ = world.messages()
    world.deliver(first)
    key = f"{batch_prefix(made.batch_id)}results/{first[1].part:05d}"
    before = artifacts.get(key)
    world.stores.artifacts.delete(key)
    BatchRow(made.account_id, made.batch_id).update(actions=[BatchRow.parts_done.remove()])
    world.deliver(first)
    assert before is not None
    assert artifacts.get(key) == before


@pytest.mark.parametrize(
    ("family", "model_id", "kind", "text"),
    [
        ("language", "GlobalIntentModel", "text-intent", "does not learn from labels"),
        ("language", "CommunitySentiment", "text-sentiment", "does not learn from labels"),
        ("vision", "GeneralImageClassifier", "image", "Train a model of your own, of type image"),
        ("vision", "A" * 26, "image-detection", "label those whose boxes are wrong"),
        ("vision", "OCRModel", "OCR", "a ranking of images takes one of type image"),
        ("language", "A" * 26, "image", "takes one of type text-intent or text-sentiment"),
    ],
)
def test_models_that_cannot_rank_are_refused(
    family: str, model_id: str, kind: str, text: str
) -> None:
    """Prebuilt models, detection and documents are refused, each with a remedy."""
    with pytest.raises(InvalidParameter, match=text):
        check_ranked(family, ServedModel(model_id, kind, "SUCCEEDED", "v"))


def test_models_of_sentiment_rank_too(batches: Batches) -> None:
    """Sentiment models can rank texts."""
    view = batches.world.dataset(
        some_rows({"positive": 9, "negative": 9}), fields=UploadFields("moods", "text-sentiment")
    )
    mood = batches.world.model(view)
    made = batches.send(["a", "b c"], kind="rank", model_id=mood.model_id)
    batches.world.work()
    assert {line["suggestion"] for line in batches.lines(made)} <= {"positive", "negative"}


def test_pictures_are_ranked(shots: Batches) -> None:
    """Images are listed by path, each once, with the model's suggestion."""
    files = {
        f"a/{n:02d}.png": draw(
            ("circle", "square", "cross")[n % 3], ("red", "green", "blue")[n % 3], (48, 40), salt=n
        )
        for n in range(23)
    }
    files["a/again.png"] = files["a/00.png"]
    files["a/broken.png"] = b"\x89PNG\r\n\x1a\n"
    made = shots.send(make_zip(files), name="shots.zip", kind="rank", count=10)
    shots.world.work()

    done, lines = shots.get(made), shots.lines(made)
    assert (done.status, done.lines_failed, shots.used()) == ("SUCCEEDED", 1, 24)
    ids = [line["id"] for line in lines]
    assert set(ids) <= set(files) - {"a/broken.png"}
    assert len({"a/00.png", "a/again.png"} & set(ids)) < 2
    for line in lines:
        assert "text" not in line
        assert line["suggestion"] in ("red", "green")
        assert 0 <= line["confidence"] <= 1
    assert np.all(np.diff([line["score"] for line in lines]) <= 1e-6)


def test_pictures_of_a_dataset_are_ranked(shots: Batches) -> None:
    """Images of a dataset are listed by the ids of their examples."""
    made = shots.create(shots.view, kind="rank", count=5)
    shots.world.work()
    dataset = shots.view.dataset
    found = shots.world.stores.examples.read_all(dataset.dataset_id, "upload", dataset.counts)
    ids = {str(example.example_id) for example in found}
    assert {line["id"] for line in shots.lines(made)} <= ids
