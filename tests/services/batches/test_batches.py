"""Text batches: answers, counts, life cycle."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import msgspec
import pytest

from chalicelib.domain.jobs import batch as rules
from chalicelib.domain.jobs.batch import MAX_KEPT_BATCHES, MAX_OPEN_BATCHES
from chalicelib.domain.models.model import TrainRequest
from chalicelib.errors import (
    BatchNotFound,
    DatasetNotFound,
    InvalidParameter,
    InvalidUpload,
    ModelNotFound,
    ModelNotReady,
    PredictionQuotaExceeded,
    StorageUnavailable,
    TooManyOpen,
    UnsupportedType,
)
from chalicelib.services.batches import requests, runs
from chalicelib.stores.aws.tables import BatchRow
from chalicelib.web.records import describe
from tests.services.batches.conftest import Batches, texts


def _single(batches: Batches, text: str, count: int | None = None) -> bytes:
    """Predict a text with a single call and return the probabilities as sent."""
    world = batches.world
    prediction = world.answer(batches.model.model_id, text, count)
    return msgspec.json.encode(describe.prediction(prediction, msgspec.UNSET).probabilities)


def test_each_line_is_answered_as_the_single_call_does(batches: Batches) -> None:
    """Each line has one result, in order, byte for byte equal to the single call."""
    asked = texts(57)
    made = batches.send(asked, name="questions.jsonl")
    assert (made.status, made.total, made.name, made.kind) == ("RUNNING", 57, "questions", "intent")
    batches.world.work()
    used = batches.used()

    done = batches.get(made)
    assert (done.status, done.is_open, done.lines_done, done.lines_failed) == (
        "SUCCEEDED",
        False,
        57,
        0,
    )
    assert used == 57
    expected = [
        b'{"row":%d,"probabilities":%s}' % (row, _single(batches, text))
        for row, text in enumerate(asked, 1)
    ]
    assert batches.content(made).splitlines() == expected
    assert done.size_bytes == len(batches.content(made))


def test_parts_of_long_texts_have_fewer_lines(
    batches: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts are limited by the length of their texts; every line is answered."""
    monkeypatch.setattr(rules, "PART_TOKENS", 600)
    long = "Please book a table for two in the garden. " * 20
    asked = [*texts(12), *(f"{number}. {long}" for number in range(5)), *texts(7)]
    limit = batches.world.account.predictions_per_month
    batches.use(limit - 20)
    made = batches.send(asked, is_partial=True)

    assert made.part_ends == (10, 15, 21, 24)
    batches.world.work()
    done = batches.get(made)
    assert (done.status, done.parts, done.lines_done, done.lines_failed) == ("SUCCEEDED", 4, 24, 4)
    lines = batches.lines(made)
    assert [line["row"] for line in lines] == [*range(1, 25)]
    assert ["error" in line for line in lines] == [False] * 20 + [True] * 4
    assert batches.used() == limit


def test_labels_are_as_many_as_asked_for_and_ids_come_back(batches: Batches) -> None:
    """`numResults` applies to each line; a line with an id has it instead of its row."""
    content = b'{"text": "book it", "id": "a-1"}\n{"text": "cancel it", "id": 7}\n{"text": "x"}'
    made = batches.send(content, count=1)
    batches.world.work()

    lines = batches.lines(made)
    assert [line.get("id", line.get("row")) for line in lines] == ["a-1", "7", 3]
    assert [len(line["probabilities"]) for line in lines] == [1, 1, 1]


def test_csv_holds_the_most_probable_label(batches: Batches) -> None:
    """Rows are numbered as in a spreadsheet; errors have their own columns."""
    content = b"id;text;other\n1;book it;x\n2;;y\n\n3;cancel it;z\n"
    made = batches.send(content, format="csv", name="t.csv")
    batches.world.work()

    head, *rows = csv.reader(io.StringIO(batches.content(made).decode(), newline=""))
    assert head == ["row", "id", "label", "probability", "code", "message"]
    assert [row[:3] for row in rows] == [["2", "1", "book"], ["3", "2", ""], ["5", "3", "cancel"]]
    best = json.loads(_single(batches, "book it"))[0]
    assert float(rows[0][3]) == best["probability"]
    assert rows[1][4] == "missing_parameter"


def test_lines_that_cannot_be_asked_say_why_and_cost_nothing(batches: Batches) -> None:
    """A failed line has the code and message of the single call and costs nothing."""
    bad = ["", " ", "x" * 20_001, "a\x00b", "fine"]
    made = batches.send(bad)
    batches.world.work()

    lines = batches.lines(made)
    assert [line.get("error", {}).get("code") for line in lines] == [
        "missing_parameter", "missing_parameter", "invalid_parameter", "invalid_parameter", None,
    ]  # fmt: skip
    assert "20001 characters, the limit is 20000" in lines[2]["error"]["message"]
    assert (batches.used(), batches.get(made).lines_failed) == (1, 4)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "0 bytes"),
        (b"\n\n", "names no column 'text'"),
        (b"text\n", "no line"),
        (b"[]", "no line"),
        (b"a,b\nc,d\n", "names no column 'text', but 'a', 'b'"),
        (b'{"body": "a"}', "no member 'text', but 'body'"),
        (b'{"text": "a"', "not valid at line 1"),
    ],
)
def test_malformed_input_is_refused(batches: Batches, content: bytes, text: str) -> None:
    """An empty batch, or one without the column, is a 400 and stores nothing."""
    with pytest.raises(InvalidUpload, match=text):
        batches.send(content)
    assert (batches.world.rows(BatchRow), batches.world.objects("batches/")) == ([], [])
    assert batches.used() == 0


def test_other_kinds_of_files_are_refused(batches: Batches) -> None:
    """An image is refused as a batch of texts."""
    with pytest.raises(UnsupportedType, match="a PNG image"):
        batches.send(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize(
    ("content", "column", "asked"),
    [
        (b"nr,Subject\n1,one\n2,two\n", "subject", ["one", "two"]),
        (b"one\ttwo\nthree\tfour\n", "2", ["two", "four"]),
        (b"sep=;\ntext;x\na, b;1\n", "", ["a, b"]),
        (b'[{"text": "a"}, {"text": "b"}]', "", ["a", "b"]),
        (b'["a", "b"]', "", ["a", "b"]),
        (b'{"msg": "a"}\n{"msg": 5}\n{"other": 1}\n', "msg", ["a", "5", None]),
        ("text\nGr\xfc\xdfe\n".encode("latin-1"), "", ["Gr\xfc\xdfe"]),
        (b'text\n"open\nfine\n', "", [None, "fine"]),
    ],
)
def test_columns_are_found(
    batches: Batches, content: bytes, column: str, asked: list[str | None]
) -> None:
    """Columns are found by name or position; a malformed row fails alone."""
    made = batches.send(content, text_column=column, name="t")
    part = batches.world.stores.batch_files.part(made, 0)
    assert part is not None
    assert [line.text if line.error is None else None for line in part] == asked


def test_lines_of_a_megabyte_are_errors_of_their_own(batches: Batches) -> None:
    """A text that is too long fails its line, not the batch."""
    made = batches.send(b"text\n" + b"x" * 1_000_000 + b"\nbook it\n", name="t.csv")
    batches.world.work()

    first, second = batches.lines(made)
    assert "longer than 200,000 characters" in first["error"]["message"]
    assert second["probabilities"]


def test_uploaded_texts_of_a_dataset_are_answered(batches: Batches) -> None:
    """A dataset's examples are answered in list order, with their ids."""
    made = batches.create(batches.view)
    assert (made.status, made.name) == ("QUEUED", "intents")
    batches.world.work()

    dataset = batches.view.dataset
    found = list(
        batches.world.stores.examples.read_all(dataset.dataset_id, "upload", dataset.counts)
    )
    assert [line["id"] for line in batches.lines(made)] == [str(one.example_id) for one in found]
    assert batches.used() == 18


def test_foreign_models_and_data_are_not_found(batches: Batches) -> None:
    """Models, datasets and batches of other accounts are not found."""
    world = batches.world
    other = world.new_account("other@example.com")
    with pytest.raises(ModelNotFound):
        batches.send(["a"], account=other)
    with pytest.raises(DatasetNotFound):
        world.container.datasets.get(other.account_id, "language", batches.view.dataset.dataset_id)
    made = batches.send(["a"])
    for account, batch_id in ((other, made.batch_id), (world.account, "A" * 26)):
        with pytest.raises(BatchNotFound):
            world.container.batches.get(account, "language", batch_id)
    with pytest.raises(BatchNotFound):
        world.container.batches.get(world.account, "vision", made.batch_id)
    assert world.container.batches.list(other, "language", 0, 10).items == ()


def test_models_that_cannot_answer_are_refused(batches: Batches) -> None:
    """Models of another type, and untrained models, are refused."""
    with pytest.raises(InvalidParameter, match="text-intent"):
        batches.send(["a"], kind="sentiment")
    waiting = batches.world.train(batches.view).model
    with pytest.raises(ModelNotReady):
        batches.send(["a"], model_id=waiting.model_id)
    assert batches.world.rows(BatchRow) == []


def test_too_few_predictions_refuse_all_of_it(batches: Batches) -> None:
    """A batch beyond the quota is refused with both numbers; nothing is counted or stored."""
    limit = batches.world.account.predictions_per_month
    batches.use(3)
    asked = texts(limit - 2)
    with pytest.raises(PredictionQuotaExceeded, match=f"has {limit - 2} lines, and {limit - 3} of"):
        batches.send(asked)
    assert batches.used() == 3
    assert (batches.world.rows(BatchRow), batches.world.objects("batches/")) == ([], [])
    batches.send(asked[:-1])
    assert batches.used() == limit


def test_a_partial_batch_uses_the_remaining_predictions(batches: Batches) -> None:
    """With `partial` the first lines are answered; the others have an error about the quota."""
    limit = batches.world.account.predictions_per_month
    batches.use(limit - 15)
    made = batches.send(texts(42), is_partial=True)
    with pytest.raises(PredictionQuotaExceeded, match="1 lines, and 0 of"):
        batches.send(["late"], is_partial=True)
    batches.world.work()

    lines = batches.lines(made)
    assert ["probabilities" in line for line in lines] == [True] * 15 + [False] * 27
    assert {line["error"]["code"] for line in lines[15:]} == {"prediction_quota_exceeded"}
    assert batches.used() == limit
    assert (batches.get(made).lines_done, batches.get(made).lines_failed) == (42, 27)


def test_two_batches_on_the_last_prediction(batches: Batches) -> None:
    """Of two batches for the last prediction only one gets it."""
    limit = batches.world.account.predictions_per_month
    batches.use(limit - 1)
    batches.send(["a"])
    with pytest.raises(PredictionQuotaExceeded):
        batches.send(["b"])
    batches.world.work()
    assert batches.used() == limit


def test_unused_predictions_return_to_the_month_of_the_reservation(batches: Batches) -> None:
    """A batch that ends in the next month is counted in the month it started."""
    made = batches.send([*texts(12), ""])
    before = batches.world.container.batch_runs._allowances.month()
    batches.world.clock.advance(days=29)
    batches.world.work()

    assert batches.get(made).status == "SUCCEEDED"
    assert before != batches.world.container.batch_runs._allowances.month()
    account = batches.world.account.account_id
    assert batches.world.stores.quotas.used(account, "predictions", before) == 12
    assert batches.used() == 0


def test_a_cancelled_batch_keeps_its_answers(batches: Batches) -> None:
    """Lines answered before a cancellation count and can be downloaded; the others are released."""
    world = batches.world
    made = batches.send(texts(55))
    messages = world.messages()
    world.deliver(messages[0])
    world.deliver(messages[1])
    late = [*messages[2:], *world.messages()]
    assert batches.used() == 55
    cancelled = world.container.batches.delete(batches.get(made))
    assert cancelled.status == "CANCELLED"
    for message in late:
        world.deliver(message)
    world.work()

    found = batches.get(made)
    assert (found.status, found.is_open, batches.used()) == ("CANCELLED", False, 20)
    assert [line["row"] for line in batches.lines(made)] == list(range(1, 21))
    world.container.batches.delete(found)
    assert (world.rows(BatchRow), world.objects("batches/")) == ([], [])
    assert batches.used() == 20


def test_cancelling_while_it_ends_counts_once(
    batches: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that is cancelled while its result is written is CANCELLED and counted exactly."""
    world, files = batches.world, batches.world.stores.batch_files
    made = batches.send([*texts(14), ""])
    put = files.put_result

    def cancel_meanwhile(*given: Any) -> int:
        monkeypatch.setattr(files, "put_result", put)
        world.container.batches.delete(batches.get(made))
        return put(*given)

    monkeypatch.setattr(files, "put_result", cancel_meanwhile)
    world.work()
    world.clock.advance(minutes=5)
    world.container.sweeping.run()
    world.settle()

    found = batches.get(made)
    assert (found.status, found.is_open, batches.used()) == ("CANCELLED", False, 14)
    assert len(batches.lines(made)) == 15
    assert len(world.objects("batches/")) == 1


def test_a_model_that_is_deleted_ends_the_batch(batches: Batches) -> None:
    """Deleting the model fails the batch; nothing is counted and no file remains."""
    world = batches.world
    made = batches.send(texts(25))
    first, *others = world.messages()
    world.deliver(first)
    world.container.deletions.delete_model(world.account, batches.model.model_id)
    for message in others:
        world.deliver(message)
    world.work()

    failed = batches.get(made)
    assert (failed.status, batches.used()) == ("FAILED", 0)
    assert "was deleted before the batch was answered" in failed.message
    assert world.objects("batches/") == []
    assert world.container.batches.url(failed) is None


def test_a_batch_keeps_the_version_of_its_start(batches: Batches) -> None:
    """A retraining during the batch does not change its answers."""
    world = batches.world
    made = batches.send(texts(5))
    expected = [_single(batches, text) for text in texts(5)]
    [part] = world.messages()
    feedback, account = world.container.feedback, world.account
    feedback.add_text(account, batches.model, "book or cancel", "cancel")
    request = TrainRequest(epochs=3, params={"withFeedback": True})
    world.container.training.retrain(account, batches.model, request)
    world.work()
    world.deliver(part)

    assert _single(batches, texts(1)[0]) != expected[0]
    lines = batches.content(made).splitlines()
    assert [line.split(b":", 2)[2][:-1] for line in lines] == expected


def test_a_part_is_one_write(batches: Batches) -> None:
    """A batch of n parts makes at most 20 + 2n writes, and no query per part."""
    calls: list[str] = []
    clients = batches.world.stores.clients
    for client in (clients.dynamodb, clients.dynamodb_once):
        client.meta.events.register("before-call", lambda model, **_: calls.append(model.name))
    made = batches.send(texts(300))
    batches.world.work()

    assert batches.get(made).status == "SUCCEEDED"
    writes = [name for name in calls if name in ("UpdateItem", "PutItem", "DeleteItem")]
    assert 30 < len(writes) <= 20 + 30
    assert calls.count("Query") < 10


def test_a_worker_that_dies_after_its_write_is_replaced(batches: Batches) -> None:
    """After a crash the repeated message continues; a duplicate message does nothing."""
    world = batches.world
    made = batches.send(texts(65))
    first, *others = world.messages()
    world.deliver(first)
    lost = [one for one in world.messages() if one[1].part == 3]
    assert len(lost) == 1
    world.deliver(first)
    assert world.messages() == []
    world.deliver(first, delivery=2)
    assert world.messages() == lost
    for message in (*lost, *others):
        world.deliver(message)
    world.work()

    assert (batches.get(made).status, batches.used()) == ("SUCCEEDED", 65)
    assert [line["row"] for line in batches.lines(made)] == list(range(1, 66))


def test_a_worker_that_dies_after_the_last_part_is_replaced(
    batches: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a crash at the last part, the worker of the repeated message writes the result."""
    world, runs = batches.world, batches.world.container.batch_runs
    made = batches.send(["a"])
    [message] = world.messages()
    with monkeypatch.context() as broken:
        broken.setattr(runs, "_finish", lambda *_: (_ for _ in ()).throw(StorageUnavailable))
        with pytest.raises(StorageUnavailable):
            world.deliver(message)
    assert batches.get(made).status == "RUNNING"
    world.deliver(message, delivery=2)

    assert (batches.get(made).status, batches.used()) == ("SUCCEEDED", 1)


def test_parts_that_fail_each_time_end_the_batch(
    batches: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After repeated failures without progress the batch is FAILED and predictions are released."""
    world = batches.world
    made = batches.send(texts(15))

    monkeypatch.setattr(runs, "MAX_STALLS", 3)
    for _ in range(5):
        for message in world.messages():
            if message[1].part is None:
                world.deliver(message)
        world.messages()
        world.clock.advance(minutes=16)
        world.container.sweeping.run()

    failed = batches.get(made)
    assert (failed.status, failed.is_open, batches.used()) == ("FAILED", False, 0)
    assert "sent to workers 3 times, and no part was answered" in failed.message


def test_accounts_take_turns_and_so_do_their_batches(batches: Batches) -> None:
    """However large an account's batches are, only a few of its parts are queued."""
    world = batches.world
    first = batches.send(texts(95))
    second = batches.send(texts(15))
    assert (first.status, second.status) == ("RUNNING", "QUEUED")
    waiting = world.messages()
    assert [job.part for _, job in waiting] == [0, 1, 2]
    for message in waiting:
        world.deliver(message)
    waiting = world.messages()
    assert [job.part for _, job in waiting] == [3, 4, 5]
    for message in waiting:
        world.deliver(message)
    world.work()

    assert [batches.get(one).status for one in (first, second)] == ["SUCCEEDED"] * 2
    assert batches.used() == 110


def test_batches_of_an_account_are_limited(
    batches: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Open and stored batches are limited; deleting one makes room."""
    assert (MAX_OPEN_BATCHES, MAX_KEPT_BATCHES) == (20, 100)
    monkeypatch.setattr(requests, "MAX_OPEN_BATCHES", 2)
    monkeypatch.setattr(requests, "MAX_KEPT_BATCHES", 3)
    made = [batches.send(["a"]) for _ in range(2)]
    with pytest.raises(TooManyOpen, match="2 batches that have not ended"):
        batches.send(["a"])
    batches.world.work()
    batches.send(["a"])
    with pytest.raises(TooManyOpen, match="at most 3 are kept"):
        batches.send(["a"])
    batches.world.container.batches.delete(batches.get(made[0]))
    batches.send(["a"])


def test_batches_are_listed_newest_first(batches: Batches) -> None:
    """Batches are listed page by page, without expired ones."""
    made = []
    for number in range(3):
        made.append(batches.send(["a"], name=f"{number}.jsonl").batch_id)
        batches.world.clock.advance(seconds=1)
    batches.world.work()
    page = batches.world.container.batches.list(batches.world.account, "language", 0, 2)
    rest = batches.world.container.batches.list(batches.world.account, "language", 2, 2)

    assert [one.batch_id for one in (*page.items, *rest.items)] == made[::-1]
    assert (page.has_more, rest.has_more) == (True, False)


def test_a_batch_expires_after_thirty_days(batches: Batches) -> None:
    """After its expiry a batch cannot be read, and the sweep deletes row and result."""
    world = batches.world
    made = batches.send(["a"])
    world.work()
    world.clock.advance(days=29, hours=23)
    assert world.container.batches.get(world.account, "language", made.batch_id).result
    assert world.container.sweeping.run() == 0
    world.clock.advance(hours=2)

    with pytest.raises(BatchNotFound):
        world.container.batches.get(world.account, "language", made.batch_id)
    world.container.sweeping.run()
    assert (world.rows(BatchRow), world.objects("batches/")) == ([], [])


def test_a_stuck_batch_fails_and_releases_its_predictions(batches: Batches) -> None:
    """A batch with lost messages is sent again, and is FAILED when it expires."""
    world = batches.world
    made = batches.send(["a"])
    world.messages()
    world.clock.advance(days=31)
    world.container.sweeping.run()
    world.work()

    assert (batches.get(made).status, batches.used()) == ("FAILED", 0)
    account = world.account.account_id
    assert world.stores.quotas.used(account, "predictions", made.month) == 0


def test_input_and_parts_are_deleted_when_it_ends(batches: Batches) -> None:
    """After a batch has ended only its result is stored."""
    made = batches.send(texts(25))
    assert len(batches.world.objects("batches/")) == 4
    batches.world.work()

    assert len(batches.world.objects("batches/")) == 1
    assert batches.world.objects("batches/")[0].endswith(batches.get(made).result)


def test_batches_are_deleted_with_their_account(batches: Batches) -> None:
    """The batches and results of a closed account are deleted with its data."""
    world = batches.world
    batches.send(texts(25))
    world.work()
    batches.send(texts(25))
    world.stores.accounts.close(world.account.account_id, world.clock())
    world.clock.advance(days=1)
    for _ in range(5):
        world.container.sweeping.run()
        world.work()
        world.clock.advance(hours=2)

    assert (world.rows(BatchRow), world.objects("batches/")) == ([], [])


def test_storage_that_fails_meanwhile_loses_nothing(
    batches: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the parts cannot be written, the call is a 503, and nothing is stored or counted."""
    files = batches.world.stores.batch_files
    put = files.put_part

    def fail_at_second(batch: Any, number: int, lines: Any) -> int:
        if number == 1:
            raise StorageUnavailable
        return put(batch, number, lines)

    monkeypatch.setattr(files, "put_part", fail_at_second)
    with pytest.raises(StorageUnavailable):
        batches.send(texts(25))
    assert (batches.world.rows(BatchRow), batches.world.objects("batches/")) == ([], [])
    assert batches.used() == 0
