"""Queue messages: one struct for each kind of job, with its encoding.

A message holds only ids: the worker reads the current state from the tables.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Self, TypeVar

import msgspec

from chalicelib.domain.common.decoding import prepare


class UnknownJob(Exception):
    """A message has a kind of job that is not allowed in its queue."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Job(msgspec.Struct, frozen=True, kw_only=True, tag_field="job"):
    """The members that all jobs have. The member `job` of a message names the kind of job."""

    account_id: str
    waits: int | msgspec.UnsetType = msgspec.UNSET
    """How many times the job was postponed, because its account was at its limit of jobs."""

    @classmethod
    def of(cls, subject: object, **members: object) -> Self:
        """Return a job for `subject`, such as a dataset; the subject's ids become its members."""
        ids = (name for name in cls.__struct_fields__ if hasattr(subject, name))
        return cls(**{name: getattr(subject, name) for name in ids} | members)


class IngestJob(Job, frozen=True, kw_only=True, tag="ingest"):
    """Read an upload."""

    family: str
    dataset_id: int
    upload_id: str


class UploadPartJob(Job, frozen=True, kw_only=True):
    """Compute the vectors or features of one part of an upload."""

    family: str
    dataset_id: int
    part: str


class EmbedJob(UploadPartJob, frozen=True, kw_only=True, tag="embed"):
    """Compute the vectors of the texts in one part of an upload."""


class FeaturesJob(UploadPartJob, frozen=True, kw_only=True, tag="features"):
    """Compute the features of the images in one part of an upload."""


class TrainJob(Job, frozen=True, kw_only=True, tag="train"):
    """Train a model."""

    model_id: str
    run: int
    # Messages of early versions have no `is_paid`.
    is_paid: bool = False


class TrainPartJob(Job, frozen=True, kw_only=True, tag="train_part"):
    """Compute one part of the vectors or features for which a training waits."""

    model_id: str
    run: int
    fence: int
    part: str


class DeleteJob(Job, frozen=True, kw_only=True, tag="delete"):
    """Delete a dataset, a model, or the data that was replaced by corrections of a dataset."""

    deletion_id: str


class SettleJob(Job, frozen=True, kw_only=True, tag="settle"):
    """Subtract a failed call from its counter, if the call was counted.

    `tries` is the number of earlier attempts.
    """

    kind: str
    month: str
    token: str
    tries: int


class ExportJob(Job, frozen=True, kw_only=True, tag="export"):
    """Write an export."""

    export_id: str


# A message without a part has no member `part`, so the default is not written.
class BatchJob(Job, frozen=True, kw_only=True, tag="batch", omit_defaults=True):
    """Answer one part of a batch. If `part` is None, prepare, resume or end the batch."""

    batch_id: str
    part: int | None = None


class LearnJob(Job, frozen=True, kw_only=True, tag="learn"):
    """Learn a form template from examples."""

    learning_id: str


class DeliverJob(Job, frozen=True, kw_only=True, tag="deliver"):
    """Send an event to a webhook."""

    hook_id: str
    key: str


class NotedObject(msgspec.Struct, frozen=True):
    """The description of an object in an S3 notification. The key is URL-encoded."""

    key: str
    etag: str = msgspec.field(name="eTag", default="")


class NotedEntry(msgspec.Struct, frozen=True):
    """The member `s3` of a bucket notification."""

    object: NotedObject


class BucketRecord(msgspec.Struct, frozen=True):
    """The entry of one object in a bucket notification."""

    s3: NotedEntry


class BucketNotice(msgspec.Struct, frozen=True):
    """The notification that the bucket sends when files arrive."""

    # S3 sends a test message without records when the notification is set up.
    records: tuple[BucketRecord, ...] = msgspec.field(name="Records", default=())


class _Head(msgspec.Struct):
    job: str = ""


# Together, all delays are 765 seconds.
_FIRST_WAIT_SECONDS, _MOST_WAITS = 3, 8

Message = TypeVar("Message", bound=msgspec.Struct)
JobType = TypeVar("JobType", bound=Job)


def kind_of(job: type[msgspec.Struct] | msgspec.Struct) -> str:
    """Return the kind of a job, as in the member `job` of its message; "" for other structs."""
    return str(job.__struct_config__.tag or "")


def encode_job(job: Job) -> str:
    """Return the body of a job's message."""
    # json.dumps, because msgspec writes no spaces and bodies must equal those of earlier versions.
    return json.dumps(msgspec.to_builtins(job))


def postponed(job: JobType) -> tuple[JobType, int] | None:
    """Return the next message of a job that must wait, because its account is at its limit.

    Each delay is twice the previous delay. The 9 messages of a job cover the time until shortly
    before SweepService sends the job again. More messages are a risk: Lambda may stop a function
    that sends 16 messages to itself.

    Returns:
        The message and its delay in seconds; None if the job was postponed 8 times.
    """
    # A new message, because one that is delayed by its visibility timeout counts as received each
    # time, and becomes a dead letter after MAX_RECEIVES.
    waits = job.waits or 0
    if waits >= _MOST_WAITS:
        return None
    return msgspec.structs.replace(job, waits=waits + 1), _FIRST_WAIT_SECONDS * 2**waits


def decode_job(
    body: str | bytes, kinds: Sequence[type[Message]], default: type[Message] | None = None
) -> Message:
    """Decode the body of a message. Unknown members are ignored.

    If the kind of the message is not in `kinds`, the message is decoded as `default`.

    Raises:
        UnknownJob: the kind of the message is not in `kinds`, and `default` is None.
        msgspec.MsgspecError: the body is not JSON, or a member is missing or of another type.
    """
    prepare(_Head)
    name = msgspec.json.decode(body, type=_Head).job
    kind = next((kind for kind in kinds if kind_of(kind) == name), default)
    if kind is None:
        raise UnknownJob(name)
    prepare(kind)
    # Not strict, because messages of earlier versions may hold numbers as text.
    return msgspec.json.decode(body, type=kind, strict=False)
