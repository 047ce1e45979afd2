"""Defines tables with their keys, attributes and indexes. Times are in milliseconds since 1970."""

from __future__ import annotations

from typing import Any

from pynamodb.attributes import (
    BinaryAttribute,
    BooleanAttribute,
    JSONAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
)
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex, IncludeProjection
from pynamodb.models import Model as TableRow

from chalicelib.config import Settings


def _meta(**facts: object) -> Any:
    """Return the class `Meta` in which PynamoDB expects the properties of a table or index."""
    return type("Meta", (), facts)


class ClosedAccountIndex(GlobalSecondaryIndex[Any]):
    """Sparse index of closed accounts, by the time at which SweepService deletes their data."""

    Meta = _meta(index_name="closed", projection=AllProjection())
    status = UnicodeAttribute(hash_key=True)
    delete_after = NumberAttribute(range_key=True)


class AccountRow(TableRow):
    """An account, an email address (`EMAIL#<address>`) or an account's webhooks (`HOOKS#<id>`)."""

    Meta = _meta(table_name="accounts")
    account_id = UnicodeAttribute(hash_key=True)
    target = UnicodeAttribute(null=True)
    email = UnicodeAttribute(null=True)
    plan = UnicodeAttribute(null=True)
    source = UnicodeAttribute(null=True)
    status = UnicodeAttribute(null=True)
    keys = JSONAttribute(null=True)
    license_id = UnicodeAttribute(null=True)
    created_at = NumberAttribute(null=True)
    delete_after = NumberAttribute(null=True)
    example_calls = NumberAttribute(null=True)
    revision = NumberAttribute(default=0)
    training = UnicodeSetAttribute(null=True)
    uploads = UnicodeSetAttribute(null=True)
    forms = UnicodeSetAttribute(null=True)
    stored_bytes = NumberAttribute(null=True)
    counted_at = NumberAttribute(null=True)
    room_version = NumberAttribute(null=True)
    hooks = JSONAttribute(null=True)
    closed_index = ClosedAccountIndex()


class RefreshTokenRow(TableRow):
    """A refresh token that was issued and not revoked."""

    Meta = _meta(table_name="refresh-tokens")
    account_id = UnicodeAttribute(hash_key=True)
    token_id = UnicodeAttribute(range_key=True)
    key_id = UnicodeAttribute()
    created_at = NumberAttribute()
    used_at = NumberAttribute(null=True)


class ApiKeyRow(TableRow):
    """Either all API keys of an account, or the account id that belongs to the SHA-256 of a key."""

    Meta = _meta(table_name="api-keys")
    lookup = UnicodeAttribute(hash_key=True)
    target = UnicodeAttribute(null=True)
    keys = JSONAttribute(null=True)
    revision = NumberAttribute(default=0)


class CounterRow(TableRow):
    """The last integer id of a kind of object, or the last turn number of a queue or an account.

    `places#1#language` stores positions in account 1's list of language datasets.
    `waiting#trainings` has the result and time of the last count of waiting trainings.
    """

    Meta = _meta(table_name="counters")
    name = UnicodeAttribute(hash_key=True)
    value = NumberAttribute(default=0)
    places = JSONAttribute(null=True)


class QuotaRow(TableRow):
    """Counters of an account. `predictions#2026-11` and `examples#2026-11` count calls in a month.

    `batches` has an entry `id#count` for each batch whose reserved predictions are not settled.
    `browsed#2026-11-24` counts examples shown for review on a day. `rate#records` has the time at
    which a token bucket is full again, in microseconds. `running#downloads` and `running#documents`
    have one entry per running call.
    """

    Meta = _meta(table_name="quotas")
    account_id = UnicodeAttribute(hash_key=True)
    period = UnicodeAttribute(range_key=True)
    used = NumberAttribute(default=0)
    full_at = NumberAttribute(null=True)
    running = UnicodeSetAttribute(null=True)
    expires_at = NumberAttribute(null=True)
    held_a = UnicodeSetAttribute(null=True)
    held_b = UnicodeSetAttribute(null=True)
    batches = UnicodeSetAttribute(null=True)


class OpenDatasetIndex(GlobalSecondaryIndex[Any]):
    """Sparse index of datasets that are UPLOADING or DELETION_PENDING, oldest first."""

    Meta = _meta(index_name="open", projection=AllProjection())
    open = UnicodeAttribute(hash_key=True)
    updated_at = NumberAttribute(range_key=True)


class DatasetTurnIndex(GlobalSecondaryIndex[Any]):
    """Sparse index of waiting and running uploads, by queue and turn number."""

    Meta = _meta(
        index_name="turns", projection=IncludeProjection(["upload_id", "lease_until", "nudged_at"])
    )
    lane = UnicodeAttribute(hash_key=True)
    turn = NumberAttribute(range_key=True)


class DatasetRow(TableRow):
    """A dataset. A write of this row makes new examples and corrections visible."""

    Meta = _meta(table_name="datasets")
    owner = UnicodeAttribute(hash_key=True)
    dataset_id = NumberAttribute(range_key=True)
    name = UnicodeAttribute()
    type = UnicodeAttribute()
    language = UnicodeAttribute()
    status = UnicodeAttribute()
    available = BooleanAttribute(default=False)
    message = UnicodeAttribute(null=True)
    created_at = NumberAttribute()
    updated_at = NumberAttribute()
    counts = BinaryAttribute(legacy_encoding=False, null=True)
    duplicates = NumberAttribute(default=0)
    words_upload = NumberAttribute(default=0)
    words_feedback = NumberAttribute(default=0)
    size_bytes = NumberAttribute(default=0)
    training = UnicodeSetAttribute(null=True)
    upload_id = UnicodeAttribute(null=True)
    upload = JSONAttribute(null=True)
    is_uploaded = BooleanAttribute(default=False)
    label_blocks = UnicodeSetAttribute(null=True)
    # The stored name is older than the word correction; rows must stay readable.
    last_correction = NumberAttribute(null=True, attr_name="mended")
    is_placed = BooleanAttribute(null=True)
    reserved_bytes = NumberAttribute(default=0)
    attempts = NumberAttribute(default=0)
    last_error = UnicodeAttribute(null=True)
    fence = NumberAttribute(default=0)
    lease_until = NumberAttribute(default=0)
    lease_owner = UnicodeAttribute(null=True)
    nudged_at = NumberAttribute(default=0)
    urls_until = NumberAttribute(null=True)
    open = UnicodeAttribute(null=True)
    lane = UnicodeAttribute(null=True)
    turn = NumberAttribute(null=True)
    open_index = OpenDatasetIndex()
    turn_index = DatasetTurnIndex()


class LabelRow(TableRow):
    """The names of a label. `names` has pairs of a fence token and a name.

    A name is visible once the dataset's row has its fence token. The last visible name is current.
    """

    Meta = _meta(table_name="labels")
    label_id = NumberAttribute(hash_key=True)
    dataset_id = NumberAttribute()
    owner = UnicodeAttribute()
    name = UnicodeAttribute()
    names = JSONAttribute(null=True)
    description = UnicodeAttribute(null=True)


class ExampleChunkRow(TableRow):
    """Up to 100 examples of one label and source. A long body is stored in S3.

    The row -f has the chunk layout of the correction with fence token f. Other keys of dataset 7
    are `7#places` (labels by example id), `7#mended` (replaced data) and `7#corrections`.
    """

    Meta = _meta(table_name="examples")
    sequence = UnicodeAttribute(hash_key=True)
    number = NumberAttribute(range_key=True)
    size = NumberAttribute()
    fence = NumberAttribute()
    body = BinaryAttribute(legacy_encoding=False, null=True)
    artifact = UnicodeAttribute(null=True)
    digests = BinaryAttribute(legacy_encoding=False, null=True)
    first = NumberAttribute(null=True)
    places = UnicodeSetAttribute(null=True)


class DatasetModelsIndex(GlobalSecondaryIndex[Any]):
    """The models of a dataset by creation time."""

    Meta = _meta(index_name="dataset", projection=AllProjection())
    dataset_id = NumberAttribute(hash_key=True)
    created_at = NumberAttribute(range_key=True)


class OpenModelIndex(GlobalSecondaryIndex[Any]):
    """Sparse index of models that are QUEUED#paid, QUEUED#free or RUNNING, by turn number."""

    Meta = _meta(index_name="open", projection=AllProjection())
    open = UnicodeAttribute(hash_key=True)
    turn = NumberAttribute(range_key=True, attr_name="queued_at")


class QueuedModelIndex(GlobalSecondaryIndex[Any]):
    """The models of `OpenModelIndex` by acceptance time. The rows are small and fast to count."""

    Meta = _meta(index_name="queued", projection=IncludeProjection(["nudged_at"]))
    open = UnicodeAttribute(hash_key=True)
    accepted_at = NumberAttribute(range_key=True)


class ModelRow(TableRow):
    """A model. A change of its status requires an unchanged run number and fence token."""

    Meta = _meta(table_name="models")
    account_id = UnicodeAttribute(hash_key=True)
    model_id = UnicodeAttribute(range_key=True)
    name = UnicodeAttribute()
    dataset_id = NumberAttribute()
    family = UnicodeAttribute()
    type = UnicodeAttribute()
    language = UnicodeAttribute()
    status = UnicodeAttribute()
    progress = NumberAttribute(default=0)
    created_at = NumberAttribute()
    updated_at = NumberAttribute()
    request = JSONAttribute()
    run = NumberAttribute(default=1)
    fence = NumberAttribute(default=0)
    attempts = NumberAttribute(default=0)
    lease_until = NumberAttribute(default=0)
    lease_owner = UnicodeAttribute(null=True)
    nudged_at = NumberAttribute(default=0)
    # Turns have the stored name of an older attribute, a time, so that old rows stay in order.
    turn = NumberAttribute(null=True, attr_name="queued_at")
    accepted_at = NumberAttribute(null=True)
    served_seconds = NumberAttribute(default=0)
    is_paid = BooleanAttribute(default=False)
    epochs = NumberAttribute(default=0)
    failure = UnicodeAttribute(null=True)
    stats = JSONAttribute(null=True)
    version = UnicodeAttribute(null=True)
    versions = JSONAttribute(null=True)
    last_error = UnicodeAttribute(null=True)
    heeds_rate = BooleanAttribute(default=False)
    mark = UnicodeAttribute(null=True)
    deleted = BooleanAttribute(default=False)
    open = UnicodeAttribute(null=True)
    dataset_index = DatasetModelsIndex()
    open_index = OpenModelIndex()
    queued_index = QueuedModelIndex()


class OpenDeletionIndex(GlobalSecondaryIndex[Any]):
    """Sparse index of unfinished deletions, for the periodic sweep."""

    Meta = _meta(index_name="open", projection=AllProjection())
    open = UnicodeAttribute(hash_key=True)
    updated_at = NumberAttribute(range_key=True)


class DeletionRow(TableRow):
    """A deletion and the progress of its job."""

    Meta = _meta(table_name="deletions")
    account_id = UnicodeAttribute(hash_key=True)
    deletion_id = UnicodeAttribute(range_key=True)
    kind = UnicodeAttribute()
    object_id = UnicodeAttribute()
    family = UnicodeAttribute(null=True)
    status = UnicodeAttribute()
    progress = NumberAttribute(default=0)
    message = UnicodeAttribute(null=True)
    updated_at = NumberAttribute()
    lease_until = NumberAttribute(default=0)
    lease_owner = UnicodeAttribute(null=True)
    nudged_at = NumberAttribute(default=0)
    fence = NumberAttribute(default=0)
    attempts = NumberAttribute(default=0)
    urls_until = NumberAttribute(default=0)
    open = UnicodeAttribute(null=True)
    open_index = OpenDeletionIndex()


class OpenExportIndex(GlobalSecondaryIndex[Any]):
    """Exports by state, OPEN or ENDED, and by the time at which the periodic sweep checks them."""

    Meta = _meta(index_name="open", projection=AllProjection())
    open = UnicodeAttribute(hash_key=True)
    due_at = NumberAttribute(range_key=True)


class ExportRow(TableRow):
    """An export. The key of its file in the bucket ends with the worker's fence token.

    Batches, learned templates and page images are in the same table, with a `kind`.
    """

    Meta = _meta(table_name="exports")
    account_id = UnicodeAttribute(hash_key=True)
    export_id = UnicodeAttribute(range_key=True)
    kind = UnicodeAttribute(null=True)
    family = UnicodeAttribute()
    dataset_id = NumberAttribute()
    format = UnicodeAttribute()
    source = UnicodeAttribute()
    status = UnicodeAttribute()
    examples = NumberAttribute(default=0)
    size_bytes = NumberAttribute(default=0)
    message = UnicodeAttribute(null=True)
    created_at = NumberAttribute()
    updated_at = NumberAttribute()
    due_at = NumberAttribute()
    expires_at = NumberAttribute()
    lease_until = NumberAttribute(default=0)
    lease_owner = UnicodeAttribute(null=True)
    nudged_at = NumberAttribute(default=0)
    fence = NumberAttribute(default=0)
    attempts = NumberAttribute(default=0)
    last_error = UnicodeAttribute(null=True)
    open = UnicodeAttribute(null=True)
    open_index = OpenExportIndex()


class BatchRow(TableRow):
    """A batch of predictions. It is in the table of exports, so one query finds all open jobs."""

    Meta = _meta(table_name="exports")
    account_id = UnicodeAttribute(hash_key=True)
    batch_id = UnicodeAttribute(range_key=True, attr_name="export_id")
    kind = UnicodeAttribute()
    family = UnicodeAttribute()
    name = UnicodeAttribute()
    model_id = UnicodeAttribute()
    model_version = UnicodeAttribute(null=True)
    request = JSONAttribute()
    source = JSONAttribute()
    warnings = JSONAttribute(null=True)
    status = UnicodeAttribute()
    created_at = NumberAttribute()
    updated_at = NumberAttribute()
    due_at = NumberAttribute()
    expires_at = NumberAttribute()
    is_prepared = BooleanAttribute(default=False)
    total = NumberAttribute(default=0)
    covered = NumberAttribute(default=0)
    month = UnicodeAttribute(null=True)
    part_ends = JSONAttribute(null=True)
    parts_done = UnicodeSetAttribute(null=True)
    done_by = UnicodeAttribute(null=True)
    stalls = NumberAttribute(default=0)
    size_bytes = NumberAttribute(default=0)
    result = UnicodeAttribute(null=True)
    message = UnicodeAttribute(null=True)
    lease_until = NumberAttribute(default=0)
    lease_owner = UnicodeAttribute(null=True)
    nudged_at = NumberAttribute(default=0)
    fence = NumberAttribute(default=0)
    attempts = NumberAttribute(default=0)
    open = UnicodeAttribute(null=True)


class KeyRow(TableRow):
    """An idempotency key with its answer. For account 7, `owner` is `7#keys`."""

    Meta = _meta(table_name="exports")
    owner = UnicodeAttribute(hash_key=True, attr_name="account_id")
    key = UnicodeAttribute(range_key=True, attr_name="export_id")
    request = UnicodeAttribute()
    object_id = UnicodeAttribute()
    object_number = NumberAttribute(default=0)
    began_at = NumberAttribute()
    attempt = NumberAttribute(default=1)
    lease_until = NumberAttribute(default=0)
    kept_until = NumberAttribute()
    expires_at = NumberAttribute()
    sealed = BinaryAttribute(legacy_encoding=False, null=True)


class OpenDeliveryIndex(GlobalSecondaryIndex[Any]):
    """Unfinished webhook deliveries by time of the next attempt, in the index of open exports."""

    Meta = _meta(index_name="open", projection=AllProjection())
    open = UnicodeAttribute(hash_key=True)
    due_at = NumberAttribute(range_key=True)


class DeliveryRow(TableRow):
    """A delivery of an event to a webhook. For webhook 3f of account 7, `owner` is `7#hook#3f`."""

    Meta = _meta(table_name="exports")
    owner = UnicodeAttribute(hash_key=True, attr_name="account_id")
    key = UnicodeAttribute(range_key=True, attr_name="export_id")
    account = UnicodeAttribute()
    hook_id = UnicodeAttribute()
    message_id = UnicodeAttribute()
    event = UnicodeAttribute()
    body = UnicodeAttribute()
    status = UnicodeAttribute()
    attempts = NumberAttribute(default=0)
    response = NumberAttribute(null=True)
    cause = UnicodeAttribute(null=True)
    created_at = NumberAttribute()
    updated_at = NumberAttribute()
    due_at = NumberAttribute()
    expires_at = NumberAttribute()
    lease_until = NumberAttribute(default=0)
    lease_owner = UnicodeAttribute(null=True)
    open = UnicodeAttribute(null=True)
    open_index = OpenDeliveryIndex()


class ReceiptRow(TableRow):
    """The receipt of one upload. The sort key begins with the time."""

    Meta = _meta(table_name="receipts")
    dataset_id = NumberAttribute(hash_key=True)
    receipt_key = UnicodeAttribute(range_key=True)
    status = UnicodeAttribute()
    message = UnicodeAttribute(null=True)
    seen = NumberAttribute(default=0)
    kept = NumberAttribute(default=0)
    duplicates = NumberAttribute(default=0)
    rejected = NumberAttribute(default=0)
    rejections = JSONAttribute(null=True)
    warnings = JSONAttribute(null=True)
    fence = NumberAttribute(default=0)


class UploadFormRow(TableRow):
    """A presigned upload form. The status shows whether its file has arrived and was used."""

    Meta = _meta(table_name="incoming")
    account_id = UnicodeAttribute(hash_key=True)
    upload_id = UnicodeAttribute(range_key=True)
    name = UnicodeAttribute(null=True)
    status = UnicodeAttribute()
    etag = UnicodeAttribute(null=True)
    used_by = UnicodeAttribute(null=True)
    usable_until = NumberAttribute()
    expires_at = NumberAttribute()


ROWS: tuple[type[TableRow], ...] = (
    AccountRow,
    RefreshTokenRow,
    CounterRow,
    QuotaRow,
    DatasetRow,
    LabelRow,
    ExampleChunkRow,
    ModelRow,
    DeletionRow,
    ExportRow,
    ReceiptRow,
    UploadFormRow,
    ApiKeyRow,
)
# Other kinds of rows in one of the tables above.
SHARED: tuple[type[TableRow], ...] = (BatchRow, KeyRow, DeliveryRow)
SHORT_NAMES = {row: str(row.Meta.table_name) for row in (*ROWS, *SHARED)}


def bind(settings: Settings, client: Any, client_without_retries: Any) -> None:
    """Set table name and client of each row class, and close old connections."""
    for row in (*ROWS, *SHARED):
        meta = row.Meta
        meta.table_name = table_name(settings, row)
        meta.region = settings.region
        meta.host = settings.endpoint_url
        row._connection = None
        connection = row._get_connection().connection
        # A repeated `ADD used 1` would count a call twice, so quota rows never retry.
        connection._client = client_without_retries if row is QuotaRow else client


def table_name(settings: Settings, row: type[TableRow]) -> str:
    """Return the name of a table with these settings."""
    return f"{settings.name}-{SHORT_NAMES[row]}"
