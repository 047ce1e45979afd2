"""Receipts: newest first, complete, and written by the latest owner only."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from chalicelib.domain.common.ids import new_string_id
from chalicelib.domain.datasets.receipt import Receipt, RejectedItem
from chalicelib.stores.aws.tables import ReceiptRow
from chalicelib.stores.datasets.receipts import parse_receipt_key, receipt_key
from tests.builders import World


def test_newest_first(world: World) -> None:
    """Receipts of a dataset are listed newest first, with all members."""
    rejections = (RejectedItem("why", row=3), RejectedItem("why not", file="a.png"))
    receipts = [
        Receipt(
            new_string_id(),
            7,
            world.clock() + timedelta(seconds=second),
            "SUCCEEDED",
            None,
            6,
            3,
            1,
            2,
            rejections,
        )
        for second in range(5)
    ]
    for receipt in receipts:
        world.stores.receipts.put(receipt)
    world.stores.receipts.put(replace(receipts[0], dataset_id=8))

    assert list(reversed(receipts))[:3] == world.stores.receipts.newest(7, 3)
    assert parse_receipt_key(receipt_key(receipts[0]), 7) == Receipt(
        receipts[0].receipt_id, 7, receipts[0].created_at
    )


def test_older_owner_does_not_overwrite(world: World) -> None:
    """Late receipts of a stalled worker or of the accepting call are dropped."""
    receipt = Receipt(new_string_id(), 7, world.clock(), seen=1, kept=1)
    store = world.stores.receipts
    store.put(replace(receipt, status="SUCCEEDED"), fence=4)

    store.put(replace(receipt, status="FAILED"), fence=3)
    store.put(receipt)

    assert [found.status for found in store.newest(7, 10)] == ["SUCCEEDED"]


def test_delete_all_beyond_one_batch(world: World) -> None:
    """All receipts of a dataset are deleted, and no others."""
    for number in range(60):
        dataset_id = 7 if number else 8
        world.stores.receipts.put(Receipt(new_string_id(), dataset_id, world.clock()))

    world.stores.receipts.delete_all(7)

    assert [int(row.dataset_id) for row in world.rows(ReceiptRow)] == [8]
