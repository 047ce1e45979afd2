"""Template jobs: lost messages, dead workers, retries, failures."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.common.repeats import KeyedCall, under_key
from chalicelib.domain.datasets.upload import UploadSource
from chalicelib.domain.jobs.messages import LearnJob
from chalicelib.domain.jobs.template_learning import (
    MAX_KEPT_LEARNINGS,
    LearningNotFound,
    TemplateLearning,
)
from chalicelib.errors import LeaseLost, StorageUnavailable, TooManyOpen
from chalicelib.stores.aws.tables import ExportRow
from tests.builders import World
from tests.pdfs import Sheet, pdf, text_pdf, words
from tests.pictures import make_zip
from tests.tiny_ocr import TinyEngine

NUMBERS = ("4711", "8152", "9003")


@pytest.fixture(autouse=True)
def engine(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that is not needed, since the documents have text layers."""
    monkeypatch.setitem(world.container.readers._engines, "ppocr", TinyEngine())
    monkeypatch.setattr(world.container.ocr, "require_networks", lambda model: None)


def _archive() -> bytes:
    pages = {f"{n}.pdf": text_pdf([f"Order number: {n}"]) for n in NUMBERS}
    values = [{"file": name, "values": {"order": name[:-4]}} for name in pages]
    return make_zip({**pages, "values.json": json.dumps(values).encode()})


def _create(world: World, **source: Any) -> TemplateLearning:
    sent = UploadSource(**(source or {"content": _archive(), "file_name": "a.zip"}))
    return world.container.templates.create(world.account, sent)


def _get(world: World, made: TemplateLearning) -> TemplateLearning:
    return world.container.templates.get(world.account, made.learning_id)[0]


def _smoker(option: str) -> bytes:
    """Return a form with two drawn boxes, of which one is ticked."""
    left = {"Yes": 150, "No": 220}[option]
    shown = b"150 700 10 10 re 220 700 10 10 re S %d 702 m %d 708 l S " % (left + 2, left + 8)
    shown += b"%d 708 m %d 702 l S " % (left + 2, left + 8)
    texts = ((72, "Smoker:"), (164, "Yes"), (234, "No"))
    shown += b"".join(words(text, x, 701) for x, text in texts)
    return pdf([Sheet(shown + words("A form of the club for its members", 72, 760))])


def test_ticked_options_are_learned(world: World) -> None:
    """A template is learned from drawn tick boxes, whose pages are read like the task `form`."""
    answers = ("Yes", "No", "No", "Yes")
    pages = {f"{n}.pdf": _smoker(answer) for n, answer in enumerate(answers)}
    values = [
        {"file": name, "values": {"smoker": answer}}
        for name, answer in zip(pages, answers, strict=True)
    ]
    archive = make_zip({**pages, "values.json": json.dumps(values).encode()})
    made = _create(world, content=archive, file_name="a.zip")
    world.work()

    _, result = world.container.templates.get(world.account, made.learning_id)

    assert result is not None
    assert (result["accuracy"], result["notFound"]) == (1.0, [])


def test_a_lost_message_is_sent_again(world: World) -> None:
    """The sweep sends the job whose message was lost."""
    made = _create(world)
    world.messages()
    world.clock.advance(minutes=16)
    world.container.sweeping.run()
    world.work()

    assert _get(world, made).status == "SUCCEEDED"


def test_a_worker_that_died_is_replaced(world: World) -> None:
    """After the lease the sweep resends the job; the former worker cannot publish."""
    made = _create(world)
    [job] = world.messages()
    dead = world.stores.learnings.acquire(made.account_id, made.learning_id)
    assert dead is not None
    world.deliver(job)
    assert _get(world, made).status == "RUNNING"
    world.clock.advance(minutes=16)
    world.container.sweeping.run()
    world.work()

    found, result = world.container.templates.get(world.account, made.learning_id)
    assert found.status == "SUCCEEDED"
    for late in (
        lambda: world.stores.learnings.finish(dead, {"template": {}}),
        lambda: world.stores.learnings.fail(dead, ""),
        lambda: world.stores.learnings.renew(dead),
    ):
        with pytest.raises(LeaseLost):
            late()
    assert world.container.templates.get(world.account, made.learning_id) == (found, result)
    # The input and one result: the dead worker's was deleted.
    assert len(world.objects("batches/")) == 2


def test_a_repeated_message_changes_nothing(world: World) -> None:
    """A message of a finished job does nothing."""
    made = _create(world)
    [job] = world.messages()
    world.deliver(job)
    before = world.container.templates.get(world.account, made.learning_id)
    world.deliver(job)

    assert world.container.templates.get(world.account, made.learning_id) == before
    assert before[1] is not None


def test_an_interrupted_job_is_retried_and_then_fails(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After three attempts the job is FAILED with the cause."""

    def broken(*_: Any) -> None:
        raise StorageUnavailable

    monkeypatch.setattr(world.stores.learnings, "read_input", broken)
    made = _create(world)
    [job] = world.messages()
    for _ in range(3):
        with pytest.raises(StorageUnavailable):
            world.deliver(job)

    failed = _get(world, made)
    assert failed.status == "FAILED"
    assert "interrupted 3 times. The last time, the storage did not answer" in failed.message


def test_a_call_whose_row_was_not_written_leaves_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the row cannot be written, the stored input is deleted."""

    def broken(*_: Any) -> None:
        raise StorageUnavailable

    monkeypatch.setattr(world.stores.learnings, "create", broken)
    with pytest.raises(StorageUnavailable):
        _create(world)

    assert (world.objects("batches/"), world.rows(ExportRow)) == ([], [])


def test_a_lost_send_is_no_error(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the queue does not answer, the row exists, and the sweep sends the job later."""

    def broken(*_: Any) -> None:
        raise StorageUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(world.stores.queues, "send", broken)
        made = _create(world)
    assert _get(world, made).status == "QUEUED"


def test_a_job_that_runs_out_of_time_fails(world: World) -> None:
    """A job that does not finish in one run is FAILED with a remedy and not repeated."""
    made = _create(world)
    world.messages()
    job = LearnJob.of(made)
    world.container.templates.run(job, lambda: 30.0)

    assert "Send fewer or smaller documents" in _get(world, made).message


def test_other_accounts_find_nothing(world: World) -> None:
    """Another account does not find a job."""
    made = _create(world)
    other = world.new_account("other@example.com")

    with pytest.raises(LearningNotFound):
        world.container.templates.get(other, made.learning_id)
    assert world.stores.exports.find(made.account_id, made.learning_id) is None
    assert world.stores.batches.of_account(made.account_id) == []


def test_jobs_of_a_day_are_limited(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of an account's jobs is limited, ended ones included."""
    now = world.clock.now
    ended = TemplateLearning("A", "1", {}, now, now, now, "SUCCEEDED")
    monkeypatch.setattr(
        world.stores.learnings, "of_account", lambda _: [ended] * MAX_KEPT_LEARNINGS
    )

    with pytest.raises(TooManyOpen, match="100 of the last 24 hours"):
        _create(world)


def test_templates_are_deleted_with_their_account(world: World) -> None:
    """When a closed account is deleted, its jobs go with input and result."""
    world.clock.advance(seconds=1)
    done = _create(world)
    world.work()
    _create(world)
    assert _get(world, done).status == "SUCCEEDED"
    world.stores.accounts.close(world.account.account_id, world.clock.now + timedelta(minutes=1))
    world.clock.advance(minutes=2)
    world.container.sweeping.run()

    assert (world.objects("batches/"), world.rows(ExportRow)) == ([], [])
    world.work()
    assert world.objects("batches/") == []


def test_a_slow_attempt_that_cannot_store_its_archive_leaves_the_later_job(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed slow attempt undoes only what it created itself."""
    put = world.stores.learnings.put_input
    made: list[TemplateLearning] = []

    def attempt(number: int) -> TemplateLearning:
        account_id = world.account.account_id
        with under_key(KeyedCall(account_id, "k", "r", "C" * 26, world.clock(), 0, number)):
            return _create(world)

    def put_after_another(*args: Any) -> None:
        monkeypatch.setattr(world.stores.learnings, "put_input", put)
        world.clock.advance(seconds=1)
        made.append(attempt(2))
        raise StorageUnavailable

    monkeypatch.setattr(world.stores.learnings, "put_input", put_after_another)
    with pytest.raises(StorageUnavailable):
        attempt(1)
    world.work()

    assert _get(world, made[0]).status == "SUCCEEDED"
