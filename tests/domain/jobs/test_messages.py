"""Queue messages stay readable between versions."""

from __future__ import annotations

import json

import msgspec
import pytest

from chalicelib import workers
from chalicelib.domain.jobs.messages import (
    BatchJob,
    BucketNotice,
    DeleteJob,
    DeliverJob,
    EmbedJob,
    ExportJob,
    FeaturesJob,
    IngestJob,
    Job,
    LearnJob,
    SettleJob,
    TrainJob,
    TrainPartJob,
    UnknownJob,
    decode_job,
    encode_job,
    postponed,
)

# Bodies that version 0.2.0 sent, recorded before jobs had types; each with the job it stands for.
RECORDED: list[tuple[str, Job]] = [
    (
        '{"job": "ingest", "account_id": "1", "family": "language", "dataset_id": 1000001,'
        ' "upload_id": "1795253400000#6C6A72OADTIWBFL2VM5I6TJCQQ"}',
        IngestJob(
            account_id="1",
            family="language",
            dataset_id=1000001,
            upload_id="1795253400000#6C6A72OADTIWBFL2VM5I6TJCQQ",
        ),
    ),
    (
        '{"job": "embed", "account_id": "1", "family": "language", "dataset_id": 1000001,'
        ' "part": "datasets/1000001/parts/W7J7IWG6TQOIMKAXXOGBHP6NOA/00000.json"}',
        EmbedJob(
            account_id="1",
            family="language",
            dataset_id=1000001,
            part="datasets/1000001/parts/W7J7IWG6TQOIMKAXXOGBHP6NOA/00000.json",
        ),
    ),
    (
        '{"job": "features", "account_id": "1", "family": "vision", "dataset_id": 1000001,'
        ' "part": "datasets/1000001/parts/GB3TNGFENHAMNO7SJLVDVXJPYE/00000.json"}',
        FeaturesJob(
            account_id="1",
            family="vision",
            dataset_id=1000001,
            part="datasets/1000001/parts/GB3TNGFENHAMNO7SJLVDVXJPYE/00000.json",
        ),
    ),
    (
        '{"job": "train", "account_id": "1", "model_id": "NCS35HHAG7253QHXHVDZIAJQWM",'
        ' "run": 1, "is_paid": false}',
        TrainJob(account_id="1", model_id="NCS35HHAG7253QHXHVDZIAJQWM", run=1, is_paid=False),
    ),
    (
        '{"job": "train_part", "account_id": "1", "model_id": "RR6WP267ZWUFUH5NKR5KWTQWS4",'
        ' "run": 1, "fence": 1, "part":'
        ' "datasets/1000001/runs/RR6WP267ZWUFUH5NKR5KWTQWS4-1/mpnet-1000001/00000.json"}',
        TrainPartJob(
            account_id="1",
            model_id="RR6WP267ZWUFUH5NKR5KWTQWS4",
            run=1,
            fence=1,
            part="datasets/1000001/runs/RR6WP267ZWUFUH5NKR5KWTQWS4-1/mpnet-1000001/00000.json",
        ),
    ),
    (
        '{"job": "delete", "account_id": "1", "deletion_id": "VF3ZDOJTDKXFI7LM4NPB7LHUVM"}',
        DeleteJob(account_id="1", deletion_id="VF3ZDOJTDKXFI7LM4NPB7LHUVM"),
    ),
    (
        '{"job": "settle", "account_id": "1", "kind": "predictions", "month": "2026-11",'
        ' "token": "6b0a611b-1834beca0b20", "tries": 0}',
        SettleJob(
            account_id="1",
            kind="predictions",
            month="2026-11",
            token="6b0a611b-1834beca0b20",
            tries=0,
        ),
    ),
    (
        '{"job": "deliver", "account_id": "2", "hook_id": "KKRBMR54PPDLGO5LAQXYSBQI24",'
        ' "key": "01796083140000-IFDVQUK4WJ4LPEZMQQSFPVEV3I"}',
        DeliverJob(
            account_id="2",
            hook_id="KKRBMR54PPDLGO5LAQXYSBQI24",
            key="01796083140000-IFDVQUK4WJ4LPEZMQQSFPVEV3I",
        ),
    ),
    (
        '{"job": "export", "account_id": "1", "export_id": "4JVCYLWQQELI6XOQM6IEOOM7HA"}',
        ExportJob(account_id="1", export_id="4JVCYLWQQELI6XOQM6IEOOM7HA"),
    ),
    (
        '{"job": "learn", "account_id": "1", "learning_id": "EGECKHDWFB6OEU5OFHKXVJSYQ4"}',
        LearnJob(account_id="1", learning_id="EGECKHDWFB6OEU5OFHKXVJSYQ4"),
    ),
    (
        '{"job": "batch", "account_id": "1", "batch_id": "L43ITCNQFYAKLERVD4G52P4QRM"}',
        BatchJob(account_id="1", batch_id="L43ITCNQFYAKLERVD4G52P4QRM"),
    ),
    (
        '{"job": "batch", "account_id": "1", "batch_id": "L43ITCNQFYAKLERVD4G52P4QRM", "part": 0}',
        BatchJob(account_id="1", batch_id="L43ITCNQFYAKLERVD4G52P4QRM", part=0),
    ),
]
KINDS = [
    kind
    for kinds, _ in workers.HANDLED.values()
    for kind in kinds
    if issubclass(kind, Job)  # not the notification, which S3 writes
]


def test_every_kind_of_job_was_recorded() -> None:
    """A new kind of job needs a recorded message."""
    assert {type(job) for _, job in RECORDED} == set(KINDS)


@pytest.mark.parametrize(("body", "job"), RECORDED)
def test_messages_of_earlier_versions_are_read(body: str, job: Job) -> None:
    """The new version processes messages that were queued by earlier versions."""
    assert decode_job(body, KINDS) == job


@pytest.mark.parametrize(("body", "job"), RECORDED)
def test_messages_are_written_as_before(body: str, job: Job) -> None:
    """An older version can read the messages of the new one."""
    assert encode_job(job) == body


def test_unknown_members_are_ignored() -> None:
    """A message of a later version that adds a member is read."""
    body = '{"job": "train", "account_id": "1", "model_id": "M", "run": 2, "new": [1]}'
    assert decode_job(body, KINDS) == TrainJob(account_id="1", model_id="M", run=2)


def test_numbers_written_as_text_are_read() -> None:
    """Numbers of jobs are read from JSON strings too, as before jobs had types."""
    body = '{"job": "batch", "account_id": "1", "batch_id": "B", "part": "3"}'
    assert decode_job(body, KINDS) == BatchJob(account_id="1", batch_id="B", part=3)


def test_kind_that_no_handler_knows_is_named() -> None:
    """The handler can log the kind of a message that it drops."""
    with pytest.raises(UnknownJob) as caught:
        decode_job('{"job": "nonsense"}', KINDS)
    assert caught.value.kind == "nonsense"


@pytest.mark.parametrize("body", ["{", "[1]", '{"job": "train", "account_id": "1"}'])
def test_unreadable_message_is_an_error(body: str) -> None:
    """A message that is not a whole job fails, so that the queue brings it to the dead letters."""
    with pytest.raises(msgspec.MsgspecError):
        decode_job(body, KINDS)


def test_notification_names_its_objects() -> None:
    """The bucket's test message has no records; a record has a key, and perhaps an ETag."""
    record = {"s3": {"object": {"key": "incoming/1/a", "size": 3}}, "eventName": "Put"}
    none = decode_job('{"Event": "s3:TestEvent"}', [BucketNotice], BucketNotice)
    one = decode_job(json.dumps({"Records": [record]}), [BucketNotice], BucketNotice)

    assert none.records == ()
    assert [(r.s3.object.key, r.s3.object.etag) for r in one.records] == [("incoming/1/a", "")]


def test_message_of_a_job_that_waits_says_how_often() -> None:
    """Each repeated message of a waiting job has twice the delay, up to a limit."""
    job: DeliverJob = DeliverJob(account_id="1", hook_id="hook", key="key")
    assert "waits" not in encode_job(job)
    delays: list[int] = []

    while again := postponed(job):
        job = decode_job(encode_job(again[0]), (DeliverJob,))
        delays.append(again[1])
        assert job.waits == len(delays)

    assert delays == [3 * 2**number for number in range(8)]
