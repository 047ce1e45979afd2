"""Contacts of a business card: tags, texts, boxes, probabilities."""

import cProfile
import itertools
import math
import random
import time

import pytest

from bench.ocr_contact_metrics import Tally, comparable
from chalicelib.domain.documents.page import Rect, TextLine, around_points
from chalicelib.engines.ocr.contacts.finder import find_contacts
from tests.engines.ocr.contacts.card_sets import CARDS
from tests.engines.ocr.contacts.cards import page_of, read_card, text_line
from tests.engines.ocr.contacts.held_back_cards import HELD_BACK
from tests.engines.ocr.contacts.logo_cards import LOGOS


def answer(page):
    """Return tags and texts of a page's contacts."""
    return [(one.tag, one.text) for one in find_contacts(page)]


@pytest.mark.parametrize("angle", [0.0, 6.0, -5.0])
@pytest.mark.parametrize("name", sorted(CARDS | HELD_BACK | LOGOS))
def test_invented_card(name, angle):
    """Every entity of a card is found and nothing else, on level and slightly rotated cards."""
    page, truth = read_card((CARDS | HELD_BACK | LOGOS)[name], angle)
    given = comparable(answer(page))
    wanted = comparable(truth)
    assert (wanted - given, given - wanted) == (wanted - wanted, wanted - wanted)


def test_numbers_mails_and_sites_of_all_cards():
    """All phone numbers, mail addresses and websites of the invented cards are found."""
    tally = Tally()
    for card in (CARDS | HELD_BACK | LOGOS).values():
        page, truth = read_card(card)
        tally.add(truth, answer(page))
    assert tally.f1("PHONE", "MOBILE_PHONE", "FAX", "EMAIL", "WEBSITE") >= 0.99


def test_two_numbers_of_one_line_have_their_own_boxes():
    """Two numbers of one line become two contacts, each with the box of its own characters."""
    line = text_line("T 503.555.0142 | F 503.555.0143", 100, 50, 20)
    phone, fax = find_contacts(page_of([line]))
    assert (phone.tag, phone.text) == ("PHONE", "503.555.0142")
    assert (fax.tag, fax.text) == ("FAX", "503.555.0143")
    assert phone.box == Rect(120, 50, 240, 70)
    assert fax.box == Rect(290, 50, 410, 70)


def test_places_of_letters_decide_the_box():
    """The box of a part of a line follows the measured positions of its characters."""
    text = "Fax 212-555-0123"
    places = (0.0, 0.02, 0.04, 0.1, *(0.34 + 0.055 * n for n in range(12)))
    line = TextLine(text, 0.9, Rect(0, 0, 1000, 40), None, places)
    (fax,) = find_contacts(page_of([line]))
    assert fax.tag == "FAX"
    assert fax.box.min_x == pytest.approx(312.5)
    assert fax.box.max_x == pytest.approx(1000)


def test_address_is_one_contact_with_the_union_of_its_boxes():
    """Address lines are joined in order; the box contains all of them."""
    lines = [
        text_line("14 Church Lane", 60, 100),
        text_line("Harrogate", 60, 127),
        text_line("HG1 5AB", 60, 154),
    ]
    (address,) = find_contacts(page_of(lines))
    assert (address.tag, address.text) == ("ADDRESS", "14 Church Lane Harrogate HG1 5AB")
    assert address.box == Rect(60, 100, 186, 172)


def test_columns_do_not_join():
    """Address lines in two columns side by side are two addresses."""
    lines = [
        text_line("12 Elm Street", 60, 100),
        text_line("88 Harbor Road", 600, 100),
        text_line("Portland, OR 97205", 600, 125),
        text_line("Phoenix, AZ 85001", 60, 127),
    ]
    assert answer(page_of(lines)) == [
        ("ADDRESS", "12 Elm Street Phoenix, AZ 85001"),
        ("ADDRESS", "88 Harbor Road Portland, OR 97205"),
    ]


def test_line_read_across_columns_is_cut():
    """A line that was read across two columns is split at the wide gap."""
    left, right = "Dana Reyes", "Orchid Labs Inc."
    step = 10.0
    first = [step * (n + 0.5) for n in range(len(left))]
    second = [400 + step * (n + 0.5) for n in range(len(right))]
    width = 400 + step * len(right)
    places = tuple(x / width for x in [*first, 250.0, *second])
    line = TextLine(f"{left} {right}", 0.95, Rect(0, 0, width, 20), None, places)
    person, company = find_contacts(page_of([line]))
    assert (person.tag, person.text) == ("PERSON", left)
    assert (company.tag, company.text) == ("ORG", right)
    assert company.box.min_x > 300


def test_label_above_a_number_counts():
    """A label alone above a number sets its tag and is not a contact itself."""
    lines = [text_line("FAX", 60, 100, 16), text_line("503-555-0143", 60, 124, 16)]
    assert answer(page_of(lines)) == [("FAX", "503-555-0143")]


def test_misread_mail_is_recognised_by_its_label():
    """A mail address read without @ is EMAIL if its label says so; the text stays as read."""
    assert answer(page_of([text_line("Email: danaorchid.com", 60, 100)])) == [
        ("EMAIL", "danaorchid.com")
    ]


def test_probability_is_between_zero_and_that_of_the_line():
    """A contact's probability is at most that of its text."""
    for card in CARDS.values():
        page, _ = read_card(card)
        for one in find_contacts(page):
            assert 0.0 < one.probability <= 0.98 + 1e-9


def test_boxes_of_a_turned_card_lie_on_their_lines():
    """On a rotated card the box of a whole line is that line's box on the page."""
    page, _ = read_card(CARDS["us_plain"], 6.0)
    boxes = {line.text: line.box for line in page.lines}
    for one in find_contacts(page):
        if one.text in boxes:
            assert math.isclose(one.box.min_y, boxes[one.text].min_y, abs_tol=0.01)


def test_every_line_is_in_one_contact_at_most():
    """No text is in two contacts, and no text of at least two letters is lost."""
    for card in CARDS.values():
        page, _ = read_card(card)
        said = "".join(one.text for one in find_contacts(page)).replace(" ", "")
        assert len(said) <= sum(len(line.text.replace(" ", "")) for line in page.lines)


@pytest.mark.parametrize("lines", [[], [text_line("|", 5, 5)], [text_line("- -", 5, 5)]])
def test_nothing_to_say(lines):
    """A page without letters has no contacts."""
    assert find_contacts(page_of(lines)) == ()


def test_trace_of_an_icon_is_not_part_of_an_address():
    """A letter misread from an icon before a house number is removed from the address."""
    lines = [text_line("Q 418 Juniper Street", 60, 100), text_line("Reno, NV 89501", 60, 127)]
    assert answer(page_of(lines)) == [("ADDRESS", "418 Juniper Street Reno, NV 89501")]


@pytest.mark.parametrize(
    "unit", ["a", "1 ", "@", "a@a.co ", "www.", "+1 555 0100 ", "A. ", "(1", ", ", "| ", "May 1 "]
)
def test_long_hostile_line_takes_linear_time(unit):
    """A line of 10,000 characters is processed within seconds, whatever it repeats."""
    text = (unit * 10_000)[:10_000].strip()
    corners = ((0.0, 0.0), (5000.0, 0.0), (5000.0, 20.0), (0.0, 20.0))
    line = TextLine(text, 0.9, around_points(corners))
    before = time.process_time()
    find_contacts(page_of([line]))
    assert time.process_time() - before < 1.5


def test_dense_page_takes_bounded_work():
    """A page of 750 short lines, which is not a card, takes at most 8,000 calls for each line."""
    lines = [
        text_line(f"Dana Reyes {n}", 20 + 300 * (n % 3), 20 * (n // 3), 12) for n in range(750)
    ]
    # The number of function calls is the same on a busy machine.
    profile = cProfile.Profile()
    profile.runcall(find_contacts, page_of(lines))
    assert sum(entry.callcount for entry in profile.getstats()) < 8_000 * len(lines)


ROWS = ("Dana Reyes", "12 Elm Street", "Phoenix, AZ 85001", "602 555 0100", "Fax", "Manager")


@pytest.mark.parametrize("is_pile", [False, True])
def test_time_grows_with_the_lines(is_pile):
    """Time grows linearly with the number of lines, scattered or in one place."""
    chance, spent = random.Random(5), []
    for count in (300, 1200):
        lines = [
            text_line(
                ROWS[n % len(ROWS)],
                *((9, 9) if is_pile else (chance.uniform(0, 1600), chance.uniform(0, 2300))),
                14,
            )
            for n in range(count)
        ]
        before = time.process_time()
        find_contacts(page_of(lines))
        spent.append(time.process_time() - before)
    assert spent[1] < 9 * spent[0] + 0.1


def test_check_ends_the_search():
    """The search ends when the check raises, at any stage."""

    class OverError(Exception):
        """The time is up."""

    calls = itertools.count()
    page = page_of([text_line(row, 60, 40 * place) for place, row in enumerate(ROWS)])
    find_contacts(page, lambda: next(calls))
    total = next(calls)
    assert total > 2 * len(ROWS)
    for last in range(total):
        left = itertools.count()

        def check(left=left, last=last):
            if next(left) >= last:
                raise OverError

        with pytest.raises(OverError):
            find_contacts(page, check)


@pytest.mark.parametrize(
    "line",
    [
        "Tax Invoice", "GST Summary", "Cashier: Tom Ames", "Promotional Period:", "Total 1,000.00",
        "Thank You and Please Come Again", "Invoice Number", "CS00018751", "12-01-19 21:13",
        "19.00 19.00", "Site : 2188", "RM 5.30", "To be deducted from 1998 Budget", "F.O.B. POINT",
    ],
)  # fmt: skip
def test_words_of_bills_are_not_people(line):
    """Printed words of bills and forms are tagged OTHER."""
    assert [tag for tag, _ in answer(page_of([text_line(line, 60, 100)]))] == ["OTHER"]


def test_page_of_many_lines_needs_better_names():
    """On a page with many lines two words are a person only with a known given name."""
    rows = [f"Row {n} of the list" for n in range(40)]
    lines = [text_line(row, 60, 100 + 40 * place) for place, row in enumerate(rows)]
    head = text_line("Trial Specification", 60, 20, 40)
    name = text_line("Dana Reyes", 60, 2000)
    assert {tag for tag, _ in answer(page_of([head, *lines]))} == {"OTHER"}
    assert ("PERSON", "Dana Reyes") in answer(page_of([head, *lines, name]))


def test_dates_above_a_firm_are_not_of_its_name():
    """A key with its value is not part of the company name below it."""
    rows = ("DATE: 11/15/2019", "DUE DATE: 12/15/2019", "CUSTOMER NAME: ORCHID CORPORATION")
    at_left = [text_line(row, 0, 100 + 40 * place) for place, row in enumerate(rows)]
    right = max(line.box.max_x for line in at_left)
    lines = [text_line(each.text, right - each.box.max_x, each.box.min_y) for each in at_left]
    found = answer(page_of(lines))
    assert [text for tag, text in found if tag == "ORG"] == ["ORCHID CORPORATION"]


def test_keys_of_names_are_cut():
    """A key before a person's or company's name is removed as a label."""
    lines = [
        text_line("Name: Dana Reyes", 60, 40),
        text_line("Company: Orchid Labs Inc.", 60, 90),
        text_line("Bill Price", 60, 140),
    ]
    assert answer(page_of(lines))[:2] == [("PERSON", "Dana Reyes"), ("ORG", "Orchid Labs Inc.")]
    assert answer(page_of(lines[2:])) == [("PERSON", "Bill Price")]


def test_lost_spaces():
    """Missing spaces do not hide a number, address, name or title."""
    lines = [
        text_line("DanaReyes", 60, 40, 30),
        text_line("RegionalDirector", 60, 90),
        text_line("12ElmStreet", 60, 140),
        text_line("Phoenix,AZ 85001", 60, 167),
        text_line("F503.555.0143", 60, 240),
    ]
    assert answer(page_of(lines)) == [
        ("PERSON", "DanaReyes"),
        ("TITLE", "RegionalDirector"),
        ("ADDRESS", "12ElmStreet Phoenix,AZ 85001"),
        ("FAX", "503.555.0143"),
    ]
