"""Browsing: order, filters, flagged examples, and its own limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from chalicelib.domain.accounts.usage import EXAMPLES, month_key
from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.models.model import Model
from chalicelib.domain.models.suspects import OTHER_LABEL, SuspectExample, suspects_document
from chalicelib.errors import BrowseQuotaExceeded, InvalidParameter, SuspectsNotKept
from chalicelib.services.datasets import browsing
from chalicelib.services.datasets.browsing import BrowsedExample, BrowsedList
from chalicelib.stores.models.versions import SUSPECTS
from tests.builders import World, a_model, some_rows

ROWS = some_rows({"book": 130, "cancel": 7})


@pytest.fixture
def view(world: World) -> DatasetView:
    """Texts of two labels, one of them with feedback."""

    def upload() -> DatasetView:
        view = world.dataset(ROWS)
        for text in ("Où est mon colis ?", "book it"):
            world.container.feedback.add_text(world.account, a_model(view), text, "cancel")
        return world.get(view)

    return world.once("browsed", upload)


def _pages(
    world: World, view: DatasetView, wanted: BrowsedList, count: int = 100
) -> Iterator[list[BrowsedExample]]:
    """Yield the pages of all calls."""
    offset: int | None = 0
    while offset is not None:
        page = world.container.browsing.browse(world.account, view, wanted, offset, count)
        yield list(page.items)
        offset = page.next_offset


def _all(world: World, view: DatasetView, wanted: BrowsedList, count: int = 100) -> list[str]:
    """Return the texts of all pages."""
    return [item.location for page in _pages(world, view, wanted, count) for item in page]


def test_pages_are_those_of_lists(world: World, view: DatasetView) -> None:
    """Without a filter uploads are in list order; with a label all of its examples are listed."""
    label = view.labels[1]
    texts = [text for text, _ in ROWS]

    pages = list(_pages(world, view, BrowsedList(), 60))

    assert [len(page) for page in pages] == [60, 60, 17]
    assert [item.location for page in pages for item in page] == texts
    assert [item.position for page in pages for item in page] == list(range(137))
    cancelled = _all(world, view, BrowsedList(label), 4)
    assert cancelled == [*texts[130:], "Où est mon colis ?", "book it"]
    assert _all(world, view, BrowsedList(source="all")) == [*texts, *cancelled[-2:]]
    assert _all(world, view, BrowsedList(source="feedback")) == cancelled[-2:]


def test_texts_are_found_by_what_they_contain(world: World, view: DatasetView) -> None:
    """Search ignores case and accent encoding, and a page ends after its last match."""
    found = list(_pages(world, view, BrowsedList(contains="NUMBER 5", source="all"), 5))

    texts = [text for text, _ in ROWS if "number 5" in text]
    assert [item.location for page in found for item in page] == texts
    assert [len(page) for page in found[:-1]] == [5] * (len(found) - 1)
    accents = BrowsedList(contains="OU\u0300 EST", source="all")
    assert _all(world, view, accents) == ["Où est mon colis ?"]


def test_a_scan_ends_in_time(
    world: World, view: DatasetView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without remaining time a call searches one block, and the next call continues after it."""
    monkeypatch.setattr(browsing, "SCAN_SECONDS", 0.0)
    monkeypatch.setattr(browsing, "_SCANNED_AT_ONCE", 50)

    pages = list(_pages(world, view, BrowsedList(contains="cancel please number 3")))

    assert [len(page) for page in pages] == [0, 0, 1]


def _flagging_model(world: World, view: DatasetView, places: list[int]) -> Model:
    """Train a model that flags the uploads at some positions."""
    model = world.model(view)
    found = world.container.browsing.browse(world.account, view, BrowsedList(source="all"), 0, 100)
    rest = world.container.browsing.browse(world.account, view, BrowsedList(source="all"), 100, 100)
    items = [*found.items, *rest.items]
    book, cancel = view.labels
    suspects = [
        SuspectExample(
            example_id=items[place].example.example_id,
            digest=items[place].example.digest.hex(),
            label_id=items[place].label.label_id,
            label="as it was called",
            suggestion_id=(cancel if items[place].label == book else book).label_id,
            suggestion="as it was called",
            confidence=0.9,
            reason=OTHER_LABEL,
        )
        for place in places
    ]
    key = f"models/{model.model_id}/{model.version}/{SUSPECTS}"
    world.stores.artifacts.put_json(key, suspects_document(suspects))
    return model


def test_suspects_come_in_the_order_of_the_report(world: World, view: DatasetView) -> None:
    """Flagged examples have suggestions with current names, and can be filtered."""
    model = _flagging_model(world, view, [120, 3, 138, 132])
    texts = [text for text, _ in ROWS]
    wanted = BrowsedList(suspects_of=model)

    [page] = _pages(world, view, wanted)

    assert [item.location for item in page] == [texts[120], texts[3], "book it", texts[132]]
    assert [item.source for item in page] == ["upload", "upload", "feedback", "upload"]
    suggestions = [item.suspect.suggestion for item in page if item.suspect]
    assert suggestions == ["cancel", "cancel", "book", "book"]
    assert [len(part) for part in _pages(world, view, wanted, 3)] == [3, 1]
    by_label = replace(wanted, label=view.labels[1])
    assert _all(world, view, by_label, 1) == ["book it", texts[132]]
    assert _all(world, view, replace(wanted, source="upload")) == [texts[i] for i in (120, 3, 132)]
    assert _all(world, view, replace(wanted, contains="IT")) == ["book it"]


def test_suspects_that_were_changed_are_left_out(world: World, view: DatasetView) -> None:
    """A flagged example that was removed, moved or edited is left out."""
    model = _flagging_model(world, view, [1, 2, 3, 4, 5])
    key = f"models/{model.model_id}/{model.version}/{SUSPECTS}"
    document = world.stores.artifacts.get_json(key)
    cancel = view.labels[1]
    for place, change in enumerate(
        ({"example_id": 1}, {"label_id": cancel.label_id}, {"digest": "0" * 32}, {"label_id": 1})
    ):
        document["suspects"][place].update(change)
    world.stores.artifacts.put_json(key, document)

    assert _all(world, view, BrowsedList(suspects_of=model), 2) == [ROWS[5][0]]


def test_reports_that_cannot_be_browsed(world: World, view: DatasetView) -> None:
    """A model of another dataset is refused, and so is one without a report."""
    model = _flagging_model(world, view, [1])
    other = world.dataset(some_rows({"a": 5, "b": 5}))
    browse = world.container.browsing.browse

    with pytest.raises(InvalidParameter, match=r"suspectsOf.* was trained from"):
        browse(world.account, other, BrowsedList(suspects_of=model), 0, 100)
    for missing in (replace(model, version=""), replace(model, version="r0-0")):
        with pytest.raises(SuspectsNotKept, match="Train it again"):
            browse(world.account, view, BrowsedList(suspects_of=missing), 0, 100)


def test_browsing_has_a_separate_limit(world: World, view: DatasetView) -> None:
    """Browsed examples count toward a daily limit, and not as example calls."""
    limited = world.another(replace(world.settings, browsed_per_day=150))
    browse = limited.container.browsing.browse

    browse(world.account, view, BrowsedList(), 0, 100)
    with pytest.raises(
        BrowseQuotaExceeded, match="the 150 that you may browse in a day"
    ) as refused:
        browse(world.account, view, BrowsedList(), 0, 51)
    browse(world.account, view, BrowsedList(), 0, 50)

    assert 0 < refused.value.retry_after_seconds <= 86_400
    used, account_id = world.stores.quotas.used, world.account.account_id
    assert used(account_id, "browsed", f"{world.clock():%Y-%m-%d}") == 150
    assert used(account_id, EXAMPLES, month_key(world.clock())) == 0
    world.clock.advance(hours=24)
    browse(world.account, view, BrowsedList(), 0, 100)
