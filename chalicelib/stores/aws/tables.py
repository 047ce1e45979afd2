"""Keys, attributes and indexes of the tables, and nothing else.

Names of tables depend on the settings, so they are bound once by `bind`. Times are whole
milliseconds since 1970.
"""

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
    """Make the inner class that tells PynamoDB of a table or an index."""
    return type("Meta", (), facts)


class ClosedAccountIndex(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """Sparse: closed accounts by the time at which their data goes, for the sweep."""

    Meta = _meta(index_name="closed", projection=AllProjection())
    status = UnicodeAttribute(hash_key=True)
    delete_after = NumberAttribute(range_key=True)


class AccountRow(TableRow):
    """An account; `EMAIL#<address>` rows point from an address to an account.

    `HOOKS#<account>` rows hold the webhooks of an account.
    """

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


class CounterRow(TableRow):
    """The last integer id that was given out, by kind; the last turn, by lane and by account.

    At `places#1#language`: how many datasets were deleted there, and where far pages begin.
    At `waiting#trainings`: when a long queue was counted, and what was found.
    """

    Meta = _meta(table_name="counters")
    name = UnicodeAttribute(hash_key=True)
    value = NumberAttribute(default=0)
    places = JSONAttribute(null=True)


class QuotaRow(TableRow):
    """Calls counted in a month, at `predictions#2026-11` or `examples#2026-11`.

    `batches` holds `id#count` of each batch whose predictions are reserved and not yet settled.

    At `browsed#2026-11-24`: examples shown for review in a day.

    At `rate#records` and so on: when the bucket of a cost class is full again, in microseconds.
    At `running#downloads` and `running#documents`: an entry for each that goes on.
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


class OpenDatasetIndex(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """Sparse: datasets that are UPLOADING or DELETION_PENDING, oldest first, for the sweep."""

    Meta = _meta(index_name="open", projection=AllProjection())
    open = UnicodeAttribute(hash_key=True)
    updated_at = NumberAttribute(range_key=True)


class DatasetTurnIndex(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """Sparse: uploads that are going on, by lane, in the order in which they are read."""

    Meta = _meta(
        index_name="turns", projection=IncludeProjection(["upload_id", "lease_until", "nudged_at"])
    )
    lane = UnicodeAttribute(hash_key=True)
    turn = NumberAttribute(range_key=True)


class DatasetRow(TableRow):
    """A dataset; the one commit point of everything that is added to it."""

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
    """A label's names; written before the dataset's row lists them.

    `names` holds pairs of a fence and a name, the last of each fence shown from then on; the row
    of the dataset tells which fences count.
    """

    Meta = _meta(table_name="labels")
    label_id = NumberAttribute(hash_key=True)
    dataset_id = NumberAttribute()
    owner = UnicodeAttribute()
    name = UnicodeAttribute()
    names = JSONAttribute(null=True)


class ExampleChunkRow(TableRow):
    """Up to 100 examples of one label and source; the body lies in S3 when it is too long.

    Numbers below 0 are layouts of corrected sequences: minus the fence of the correction.
    Partition `7#places` holds labels by example id, `7#mended` the data that each correction
    replaced, `7#corrections` its receipt.
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


class DatasetModelsIndex(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """The models of a dataset."""

    Meta = _meta(index_name="dataset", projection=AllProjection())
    dataset_id = NumberAttribute(hash_key=True)
    created_at = NumberAttribute(range_key=True)


class OpenModelIndex(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """Sparse: models that are QUEUED#paid, QUEUED#free or RUNNING, in the order of their turns."""

    Meta = _meta(index_name="open", projection=AllProjection())
    open = UnicodeAttribute(hash_key=True)
    turn = NumberAttribute(range_key=True, attr_name="queued_at")


class QueuedModelIndex(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """The same models in the order in which they were accepted, with little of each."""

    Meta = _meta(index_name="queued", projection=IncludeProjection(["nudged_at"]))
    open = UnicodeAttribute(hash_key=True)
    accepted_at = NumberAttribute(range_key=True)


class ModelRow(TableRow):
    """A model; status changes are conditional on run and fence."""

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
    # The turn bears the name that rows had when it was a time, so that old rows keep their place.
    turn = NumberAttribute(null=True, attr_name="queued_at")
    accepted_at = NumberAttribute(null=True)
    served_seconds = NumberAttribute(default=0)
    is_paid = BooleanAttribute(default=False)
    epochs = NumberAttribute(default=0)
    failure = UnicodeAttribute(null=True)
    stats = JSONAttribute(null=True)
    version = UnicodeAttribute(null=True)
    last_error = UnicodeAttribute(null=True)
    heeds_rate = BooleanAttribute(default=False)
    mark = UnicodeAttribute(null=True)
    deleted = BooleanAttribute(default=False)
    open = UnicodeAttribute(null=True)
    dataset_index = DatasetModelsIndex()
    open_index = OpenModelIndex()
    queued_index = QueuedModelIndex()


class OpenDeletionIndex(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """Sparse: deletions that are not finished, for the sweep."""

    Meta = _meta(index_name="open", projection=AllProjection())
    open = UnicodeAttribute(hash_key=True)
    updated_at = NumberAttribute(range_key=True)


class DeletionRow(TableRow):
    """A tracked removal."""

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


class OpenExportIndex(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """Exports that are OPEN or ENDED, by the time at which they are gone, for the sweep."""

    Meta = _meta(index_name="open", projection=AllProjection())
    open = UnicodeAttribute(hash_key=True)
    due_at = NumberAttribute(range_key=True)


class ExportRow(TableRow):
    """An export of a dataset; its file lies in the bucket under its fence.

    Batches stand in the same table, and bear their `kind`.
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
    """A batch of predictions, beside the exports: the sweep finds both by one query each."""

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
    status = UnicodeAttribute()
    created_at = NumberAttribute()
    updated_at = NumberAttribute()
    due_at = NumberAttribute()
    expires_at = NumberAttribute()
    is_prepared = BooleanAttribute(default=False)
    total = NumberAttribute(default=0)
    covered = NumberAttribute(default=0)
    month = UnicodeAttribute(null=True)
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
    """A key of a call, with the answer once there is one; among the exports, at `7#keys`."""

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


class OpenDeliveryIndex(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """The index of the exports, of deliveries that have not ended, by when they are tried."""

    Meta = _meta(index_name="open", projection=AllProjection())
    open = UnicodeAttribute(hash_key=True)
    due_at = NumberAttribute(range_key=True)


class DeliveryRow(TableRow):
    """An event on its way to a webhook; among the exports, at `7#hook#` and the webhook's id."""

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
    """What happened to the rows of one upload; the sort key begins with the time."""

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
    """A presigned form, and whether its file has arrived and was used."""

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
)
SHARED: tuple[type[TableRow], ...] = (BatchRow, KeyRow, DeliveryRow)
"""Further kinds of rows of a table above."""
SHORT_NAMES = {row: str(row.Meta.table_name) for row in (*ROWS, *SHARED)}


def bind(settings: Settings, client: Any, client_without_retries: Any) -> None:
    """Bind the tables to the settings' names and to AWS clients, dropping old connections.

    One client serves all tables; quota rows have one that never repeats a call, because a
    repeated `ADD used 1` would count twice.
    """
    for row in (*ROWS, *SHARED):
        meta = row.Meta
        meta.table_name = table_name(settings, row)
        meta.region = settings.region
        meta.host = settings.endpoint_url
        row._connection = None
        connection = row._get_connection().connection
        connection._client = client_without_retries if row is QuotaRow else client


def table_name(settings: Settings, row: type[TableRow]) -> str:
    """Name of a table under these settings."""
    return f"{settings.name}-{SHORT_NAMES[row]}"
