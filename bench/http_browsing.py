"""Section `browse` of bench_http: one client pages through 100,000 examples."""

from __future__ import annotations

import random
import statistics
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bench.report import ceiling
from chalicelib.container import Container
from chalicelib.domain.datasets.dataset import LANGUAGE, SUCCEEDED, UPLOAD, Dataset, LabelCounts
from chalicelib.domain.datasets.example import CHUNK_EXAMPLES, Example
from chalicelib.stores.datasets.datasets import new_row
from chalicelib.stores.datasets.labels import owner_key
from chalicelib.stores.examples.examples import ExampleSequence
from chalicelib.stores.stores import Stores

if TYPE_CHECKING:
    from bench.bench_http import Bench

EXAMPLES, LABELS, PAGES, WARM_UP = 100_000, 50, 200, 20
WORDS = "where is my parcel please tell me what became of the order that I paid for"


def bench_browse(bench: Bench) -> None:
    """Time pages at several offsets, and a search for a text that no example contains."""
    owner = bench.world.account_id(bench.caller)
    dataset_id = _shelf(Container(bench.stack.settings).stores, owner)
    path = f"/v2/language/datasets/{dataset_id}"
    chosen = random.Random(7)

    def seconds(query: str) -> float:
        began = time.perf_counter()
        assert bench.caller.get(f"{path}/{query}").status == 200
        return time.perf_counter() - began

    pages, peers = [], []
    for _ in range(PAGES + WARM_UP):
        offset = chosen.randrange(EXAMPLES - 100)
        pages.append(1_000 * seconds(f"browse?offset={offset}"))
        peers.append(1_000 * seconds(f"examples?offset={offset}"))
    typical = statistics.median(pages[WARM_UP:])
    peer = ("the same page of GET …/examples", statistics.median(peers[WARM_UP:]))
    bench.report.add("browse, any page of 100,000, 1 client: p50", typical, "ms", ceiling(60), peer)
    scan = seconds("browse?contains=nothing+has+this")
    bench.report.add("browse, one call that looks for a text", scan, "s", ceiling(3))


def _shelf(stores: Stores, account_id: str) -> int:
    """Store a dataset without an upload, so that no text is embedded; return the dataset's id."""
    now = datetime.now(UTC)
    dataset_id = stores.ids.reserve("datasets")
    first_label = stores.ids.reserve("labels", LABELS)
    first_id = stores.ids.reserve("examples", EXAMPLES)
    names = {first_label + number: f"label {number}" for number in range(LABELS)}
    stores.labels.put(owner_key(account_id, LANGUAGE), dataset_id, names)
    each = EXAMPLES // LABELS
    for place in range(0, EXAMPLES, CHUNK_EXAMPLES):
        label_id = first_label + place // each
        chunk = [
            Example(number, f"{WORDS[number % 9 :]} {number}", now, label_id)
            for number in range(first_id + place, first_id + place + CHUNK_EXAMPLES)
        ]
        sequence = ExampleSequence(dataset_id, UPLOAD, label_id)
        stores.examples.put_chunk(sequence, place % each // CHUNK_EXAMPLES, chunk, 1)
    counts = tuple(LabelCounts(label_id, each) for label_id in names)
    facts = {"name": "shelf", "type": "text-intent", "language": "en_US", "status": SUCCEEDED}
    dataset = Dataset(
        account_id,
        LANGUAGE,
        dataset_id,
        **facts,
        available=True,
        created_at=now,
        updated_at=now,
        counts=counts,
    )
    new_row(dataset).save()
    return dataset_id
