"""Measures the task `contact` on drawn business cards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench.ocr_contact_metrics import Entity, Tally, entities_of
from bench.ocr_data import Sample, read_rendered
from bench.ocr_plots import contact_marks
from bench.ocr_reading import Cost, Reader, interval
from bench.report import Bar, say
from chalicelib.engines.ocr.contacts.finder import find_contacts

if TYPE_CHECKING:
    from bench.bench_ocr import Bench

NUMBERS = ("PHONE", "MOBILE_PHONE", "FAX", "EMAIL", "WEBSITE")
"""Tags that patterns find."""
NAMES = ("PERSON", "ORG", "ADDRESS", "OTHER")
"""Tags that patterns cannot find, so that evidence is compared; a title counts as OTHER."""
Card = tuple[list[Entity], list[Entity]]
"""The true entities of a card, and those found."""


@dataclass
class ContactResult:
    """The results of one reader (engine) for all cards."""

    cards: list[Card] = field(default_factory=list)
    cost: Cost = field(default_factory=Cost)


def bench_contacts(bench: Bench) -> None:
    """Read the drawn cards and report their scores."""
    samples = read_rendered(bench.data, "cards")
    found = read_cards(bench, bench.reader, samples)
    peer = None if bench.peer is None else read_cards(bench, bench.peer, samples)
    for name, tags, bar in (
        ("all tags", (), Bar(0.96)),
        ("phone, mail, web", NUMBERS, Bar(0.99)),
        *((tag, (tag,), None) for tag in NAMES),
    ):
        bench.add(
            f"cards, {name}: micro F1",
            score(found.cards, tags),
            bar,
            peer and score(peer.cards, tags),
            interval(found.cards, lambda some, tags=tags: score(some, tags)),
        )
    bench.add_cpu("cards", found.cost, None, peer and peer.cost)


def read_cards(
    bench: Bench, reader: Reader, samples: Sequence[tuple[Sample, dict[str, Any]]]
) -> ContactResult:
    """Read the cards with one reader."""
    result = ContactResult()
    for sample, truth in samples:
        with result.cost.document():
            (page,) = reader.pages(sample.content)
            contacts = find_contacts(page)
        card = entities_of(truth["items"]), [(each.tag, each.text) for each in contacts]
        result.cards.append(card)
        if reader is bench.reader:
            print_errors(sample.name, card)
            if bench.plots is not None:
                bench.plots.page(sample.name, page, contact_marks(contacts))
    return result


def print_errors(name: str, card: Card) -> None:
    """Print the tags of entities that were missed or invented on a card."""
    tally = Tally()
    tally.add(*card)
    if tally.missing or tally.extra:
        say(f"{name}: missed {dict(tally.missing)}, made up {dict(tally.extra)}")


def score(cards: Sequence[Card], tags: Sequence[str]) -> float:
    """Return the micro F1 of `tags` over all cards; of all tags if `tags` is empty."""
    tally = Tally()
    for card in cards:
        tally.add(*card)
    return tally.f1(*tags)
