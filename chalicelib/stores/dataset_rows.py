"""Dataset rows to domain datasets and back; counts are one compressed value."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence

from chalicelib.domain.clock import from_milliseconds, to_milliseconds
from chalicelib.domain.dataset import Dataset, LabelCounts
from chalicelib.stores.labels import owner_key
from chalicelib.stores.tables import DatasetRow


def dump_counts(counts: Sequence[LabelCounts]) -> bytes:
    """Pack the counts of up to 1,000 labels into a few kilobytes."""
    triples = [(c.label_id, c.upload, c.feedback) for c in counts]
    return zlib.compress(json.dumps(triples, separators=(",", ":")).encode())


def load_counts(packed: bytes | None) -> tuple[LabelCounts, ...]:
    """Unpack counts; none when the row has none yet."""
    if packed is None:
        return ()
    return tuple(LabelCounts(*triple) for triple in json.loads(zlib.decompress(packed)))


def new_row(dataset: Dataset) -> DatasetRow:
    """Make the row of a new dataset."""
    return DatasetRow(
        owner_key(dataset.account_id, dataset.family),
        dataset.dataset_id,
        name=dataset.name,
        type=dataset.type,
        language=dataset.language,
        status=dataset.status,
        available=dataset.available,
        created_at=to_milliseconds(dataset.created_at),
        updated_at=to_milliseconds(dataset.updated_at),
        counts=dump_counts(dataset.counts),
        is_uploaded=dataset.is_uploaded,
        upload_id=dataset.upload_id or None,
        reserved_bytes=dataset.reserved_bytes,
    )


def label_block(first: int, count: int) -> str:
    """Write down a block of label ids that may have rows, committed or not."""
    return f"{first}+{count}"


def label_ids(blocks: Iterable[str]) -> set[int]:
    """List the ids of label blocks."""
    pairs = (block.split("+") for block in blocks)
    return {int(first) + number for first, count in pairs for number in range(int(count))}


def load_dataset(row: DatasetRow) -> Dataset:
    """Make the domain dataset of a row."""
    account_id, _, family = str(row.owner).rpartition("#")
    return Dataset(
        account_id=account_id,
        family=family,
        dataset_id=int(row.dataset_id),
        name=row.name,
        type=row.type,
        language=row.language,
        status=row.status,
        available=bool(row.available),
        created_at=from_milliseconds(row.created_at),
        updated_at=from_milliseconds(row.updated_at),
        message=row.message or "",
        counts=load_counts(row.counts),
        duplicates=int(row.duplicates),
        words_upload=int(row.words_upload),
        words_feedback=int(row.words_feedback),
        bytes=int(row.size_bytes),
        training=frozenset(row.training or ()),
        is_uploaded=bool(row.is_uploaded),
        upload_id=row.upload_id or "",
        reserved_bytes=int(row.reserved_bytes),
        fence=int(row.fence),
    )
