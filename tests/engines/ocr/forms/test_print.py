"""Which printed text belongs to a value: nearby words, captions, sentences."""

from __future__ import annotations

import pytest

from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.engines.ocr.forms.finder import find_fields
from tests.engines.ocr.forms.drawn import DrawnForm


def _read(form: DrawnForm, *keys: TemplateKey) -> dict[str, str]:
    """Return the values of keys."""
    return {each.entity: each.value_text for each in find_fields(form.read(), FormTemplate(keys))}


def test_wide_blank_ends_a_value() -> None:
    """A gap wider than a word space ends a value."""
    form = DrawnForm()
    box = form.write(60, 100, "DD: 12645546")
    form.write(box.max_x + 2 * box.height, 100, "ORGAN DONOR")

    assert _read(form, TemplateKey("number", ("DD",))) == {"number": "12645546"}


def test_larger_print_is_a_text_of_its_own() -> None:
    """Larger letters next to a value, as of a stamp, are not part of it."""
    form = DrawnForm()
    box = form.write(60, 100, "EYES BRO")
    form.write(box.max_x + 8, 102, "VETERAN", 32)

    assert _read(form, TemplateKey("eyes", ("EYES",))) == {"eyes": "BRO"}


def test_word_with_a_date_is_another_field() -> None:
    """A date with a word below a value, as of a form's revision, does not continue it."""
    form = DrawnForm()
    form.write(60, 100, "HGT")
    form.write(130, 100, "5-08")
    form.write(130, 126, "REV 03/12/2017")

    assert _read(form, TemplateKey("height", ("HGT",))) == {"height": "5-08"}


def test_instruction_is_no_value() -> None:
    """An instruction is not a value, and all of its lines are skipped."""
    form = DrawnForm()
    form.write(60, 100, "Occupation")
    form.write(60, 150, "Baker")
    form.write(200, 100, "If the office sent you a number", 14)
    form.write(200, 118, "enter it here, see the", 14)

    assert _read(form, TemplateKey("occupation", ("Occupation",))) == {"occupation": "Baker"}


def test_numbered_caption_is_no_value() -> None:
    """If captions are numbered, a text that begins with a number is a caption."""
    form = DrawnForm()
    captions = ("1 Wages", "2 Tax withheld", "3 Tips", "4 Benefits")
    for place, caption in enumerate(captions):
        form.write(60 + 280 * place, 100, caption, 16)
    form.write(60, 124, "100.00")
    form.write(60 + 280 * 3, 130, "13 Statutory employee", 16)
    keys = [TemplateKey(caption[2:], (caption, caption[2:])) for caption in captions]

    found = _read(form, *keys)

    assert found["Wages"] == "100.00"
    assert found["Benefits"] == ""


def test_line_that_was_read_through_columns_is_divided_below_their_captions() -> None:
    """Numbers read as one line are divided between the captions above them."""
    form = DrawnForm()
    for x, caption in ((60, "FILE"), (140, "DEPT."), (220, "CLOCK")):
        form.write(x, 100, caption, 16)
    form.write(60, 124, "126543  123456  12345", 18)

    assert _read(form, TemplateKey("department", ("Dept",))) == {"department": "123456"}


def test_long_caption_may_have_two_letters_misread() -> None:
    """A caption of ten words matches with two misread letters."""
    form = DrawnForm()
    form.write(60, 100, "If joint retum, spouse's first name and middle initial", 16)
    form.write(60, 124, "Maria")
    key = "If joint return, spouse's first name and middle initial"

    assert _read(form, TemplateKey("name", (key,))) == {"name": "Maria"}


def test_column_header_wins_over_a_sentence() -> None:
    """A caption that stands alone wins over a longer one inside a sentence."""
    form = DrawnForm()
    form.write(60, 100, "rate")
    form.write(60, 130, "10.00")
    form.write(500, 400, "HOURLY RATE HAS BEEN CHANGED FROM $6.00")
    key = TemplateKey("rate", ("Hourly Rate", "Rate"), ("CURRENCY",))

    assert _read(form, key) == {"rate": "10.00"}


def test_caption_at_the_bottom_of_its_box_names_what_stands_above() -> None:
    """A caption at the bottom of a box has the lines above it as value."""
    form = DrawnForm()
    form.box(60, 100, 700, 360)
    form.write(66, 104, "Employee's name", 14)
    form.write(90, 130, "Mary Keller")
    form.write(90, 260, "12 Elm Street")
    form.write(90, 290, "Phoenix, AZ 85001")
    form.write(66, 338, "Employee's address and ZIP code", 14)
    name = TemplateKey("name", ("Employee's name",))
    address = TemplateKey("address", ("Employee's address and ZIP code",))

    assert _read(form, name, address) == {
        "name": "Mary Keller",
        "address": "12 Elm Street Phoenix, AZ 85001",
    }


def test_number_inside_a_longer_one_is_no_caption() -> None:
    """A one-digit caption does not match inside a longer number."""
    form = DrawnForm()
    form.write(60, 100, "Height 5-08")
    keys = (TemplateKey("height", ("Height",)), TemplateKey("fifth", ("5",)))

    assert _read(form, *keys) == {"height": "5-08"}


def test_short_captions_in_one_line_have_their_own_values() -> None:
    """Short captions that follow a value on the same line are recognized."""
    form = DrawnForm()
    form.write(60, 100, "HGT 5-05 WGT 125")
    keys = (TemplateKey("height", ("HGT",)), TemplateKey("weight", ("WGT",)))

    assert _read(form, *keys) == {"height": "5-05", "weight": "125"}


def test_name_ends_where_the_address_of_another_key_begins() -> None:
    """A company name ends where the address of another key begins."""
    form = DrawnForm()
    for place, line in enumerate(("COMPANY", "Larkmoor Dairy Inc.", "12 Elm Street")):
        form.write(60, 100 + 26 * place, line)
    firm = TemplateKey("firm", ("Company",))

    assert _read(form, firm)["firm"] == "Larkmoor Dairy Inc. 12 Elm Street"
    assert _read(form, firm, TemplateKey("firm_address", ("Where",)))["firm"] == (
        "Larkmoor Dairy Inc."
    )


def test_whole_row_of_a_box_is_its_value() -> None:
    """A code and an amount far apart in the same box are one value."""
    form = DrawnForm()
    form.box(60, 100, 460, 170)
    form.write(66, 104, "12a See instructions", 14)
    form.write(90, 135, "DD")
    form.write(350, 135, "6,939.68")

    found = _read(form, TemplateKey("code", ("12a See instructions",)))

    assert found == {"code": "DD 6,939.68"}


def test_address_may_begin_with_a_name() -> None:
    """Lines below a caption are judged together: a company name above its street."""
    form = DrawnForm()
    for row, text in enumerate(("Invoice: INV-100", "Order: 4711", "Customer: 815", "Page: 1")):
        form.write(600, 60 + 30 * row, text)
    for row, text in enumerate(("Bill to:", "Orchid Finance", "123 Bill St,", "Redmond WA, 98052")):
        form.write(60, 300 + 30 * row, text)
    others = (TemplateKey(name, (name,)) for name in ("Invoice", "Order", "Customer", "Page"))
    key = TemplateKey("bill", ("Bill to",), ("ADDRESS",))

    found = _read(form, key, *others)

    assert found["bill"] == "Orchid Finance 123 Bill St, Redmond WA, 98052"


def test_caption_may_end_before_an_instruction() -> None:
    """An instruction after a caption's full stop is not its value."""
    form = DrawnForm()
    form.write(60, 100, "City or post office. If you have a foreign address, see below.", 16)
    form.write(60, 124, "Duluth")
    form.write(60, 200, "Amount", 24)
    form.write(300, 240, "Amount. Subtract line 33 from line 24. See the notes on pay", 16)
    form.write(1000, 240, "7,036")
    keys = (
        TemplateKey("city", ("City or post office",)),
        TemplateKey("amount", ("Amount",), ("CURRENCY",)),
    )

    assert _read(form, *keys) == {"city": "Duluth", "amount": "7,036"}


def test_signature_is_not_the_caption_of_an_adjacent_line() -> None:
    """A signature that overlaps an address does not separate its lines."""
    form = DrawnForm()
    form.write(200, 100, "8")
    form.write(230, 100, "123 MAIN STREET")
    form.write(226, 126, "HELENA, MT 59601")
    form.write(20, 108, "B. Sample", 44)

    found = _read(form, TemplateKey("address", ("8",)), TemplateKey("other", ("9",)))

    assert found == {"address": "123 MAIN STREET HELENA, MT 59601"}


def test_telephone_number_may_be_read_as_two_words() -> None:
    """A phone number read as two words is one value."""
    form = DrawnForm()
    box = form.write(60, 100, "Phone no.")
    box = form.write(box.max_x + 20, 100, "(218)")
    form.write(box.max_x + 8, 100, "555-0163")

    found = _read(form, TemplateKey("phone", ("Phone no.",), ("PHONE",)))

    assert found == {"phone": "(218) 555-0163"}


def test_word_that_forms_print_goes_on_with_a_name_right_behind_it() -> None:
    """A word right after a name continues it, even if forms use it as a caption."""
    form = DrawnForm()
    box = form.write(60, 100, "Firm's name: Fiore & Sons")
    box = form.write(box.max_x, 100, "Tax")
    form.write(box.max_x, 100, "Service")
    box = form.write(60, 200, "Clerk: A. Wood")
    form.write(box.max_x + box.height, 200, "Date")
    keys = (TemplateKey("firm", ("Firm's name",)), TemplateKey("clerk", ("Clerk",)))

    assert _read(form, *keys) == {"firm": "Fiore & Sons Tax Service", "clerk": "A. Wood"}


def test_key_in_one_line_comes_before_one_in_two() -> None:
    """A key on one line wins over one on two lines."""
    form = DrawnForm()
    form.write(60, 100, "Phone")
    form.write(60, 126, "no.")
    form.write(200, 126, "310-555-1212")
    form.write(60, 300, "Phone no.")
    form.write(200, 300, "310-678-2323")

    found = _read(form, TemplateKey("phone", ("Phone no.",), ("PHONE",)))

    assert found == {"phone": "310-678-2323"}


def test_lettered_label_and_arrow_are_no_part_of_a_value() -> None:
    """Arrows and lettered captions are not part of a value."""
    form = DrawnForm()
    form.write(60, 100, "Routing number")
    form.write(400, 100, "c Type: Checking Savings")
    form.write(60, 200, "Firm's name \u25b6 Fiore & Sons")
    keys = (TemplateKey("routing", ("Routing number",)), TemplateKey("firm", ("Firm's name",)))

    assert _read(form, *keys) == {"routing": "", "firm": "Fiore & Sons"}


def test_lines_to_write_on_do_not_part_a_text_that_goes_on() -> None:
    """Rules below each written line are not boxes: the text continues after a comma."""
    form = DrawnForm()
    form.write(60, 100, "Describe your concerns:")
    for row, text in enumerate(("Runny nose, weakness,", "aches, chills, tired", "Dr. Wood")):
        form.write(80, 146 + 44 * row, text, 30)
        form.rule(60, 182 + 44 * row, 1100, 182 + 44 * row)

    found = _read(form, TemplateKey("concerns", ("Describe your concerns",)))

    assert found == {"concerns": "Runny nose, weakness, aches, chills, tired"}


@pytest.mark.parametrize(
    ("key", "value", "rest"),
    [
        ("Cashier", "Rosa Delgado", " Store: 123"),
        ("Cashier", "Rosa Delgado", " Store: 123 Date: 11/28/2026"),
        ("Report", "Hong Kong: market monitor", ""),
        ("Subject", "Report on Hong Kong: market monitor", ""),
        ("Subject", "Report on Hong Kong: 2026 review", ""),
        ("Title", "Star Trek Picard: The End", ""),
        ("Remarks", "call before noon, Note: ring twice", ""),
    ],
)
def test_label_before_a_number_ends_a_value(key: str, value: str, rest: str) -> None:
    """Receipts print several labelled numbers in one line; before words, a colon is in a name."""
    form = DrawnForm()
    form.write(60, 100, f"{key}: {value}{rest}")

    assert _read(form, TemplateKey("own", (key,))) == {"own": value}


def test_numbered_caption_of_the_next_box_is_no_value() -> None:
    """PDF readers join the captions of neighbouring boxes if their gap is narrow."""
    form = DrawnForm()
    form.write(60, 100, "15 State 16 State identification no.")
    form.write(70, 130, "TX")
    form.expect("state", "TX", "15 State")

    fields = find_fields(form.read(), form.template)

    assert {field.entity: field.value_text for field in fields} == form.values


def test_caption_in_two_languages_is_one_caption() -> None:
    """A key may be the second language of its caption; other such captions are no values."""
    form = DrawnForm()
    captions = ("Jenis / Type", "Nama / Name", "Warganegara / Nationality", "Tarikh / Date")
    values = ("P", "ERIKSSON", "UTOPIAN", "12 AUG 1974")
    for place, (caption, value) in enumerate(zip(captions, values, strict=True)):
        form.write(60, 100 + 80 * place, caption)
        form.write(60, 130 + 80 * place, value)
    form.write(460, 100, "No. Pengenalan / Identity No.")
    names = ("Type", "Name", "Nationality", "Date")

    found = _read(form, *(TemplateKey(name, (name,)) for name in names))

    assert found == dict(zip(names, values, strict=True))


def test_upright_letters_are_no_value() -> None:
    """A word that is printed letter below letter at the side of a box is not its value."""
    form = DrawnForm()
    form.box(60, 90, 400, 190)
    form.write(66, 94, "12a", 14)
    for place, letter in enumerate("Code"):
        form.write(66, 118 + 16 * place, letter, 14)

    assert _read(form, TemplateKey("code", ("12a",))) == {"code": ""}


def test_captions_of_two_keys_may_have_a_slash_between_them() -> None:
    """In `City / State` each key has its own caption."""
    form = DrawnForm()
    form.write(60, 100, "City / State")
    form.write(60, 130, "Duluth")
    keys = (TemplateKey("city", ("City",)), TemplateKey("state", ("State",)))

    assert _read(form, *keys)["city"] == "Duluth"


def test_letters_below_one_another_are_values_unless_they_spell_a_caption() -> None:
    """Answers of one letter in consecutive lines are values."""
    form = DrawnForm()
    names = ("Smoker", "Driver", "Diver", "Pilot")
    for place, (name, answer) in enumerate(zip(names, "YNYN", strict=True)):
        form.write(60, 100 + 26 * place, f"{name}:")
        form.write(260, 100 + 26 * place, answer)

    found = _read(form, *(TemplateKey(name, (name,)) for name in names))

    assert found == dict(zip(names, "YNYN", strict=True))


@pytest.mark.parametrize(("text", "value"), [("9 CLASSD", "D"), ("9 CLASSY CAR", "CLASSY CAR")])
def test_caption_read_as_one_word_with_its_value_is_removed(text: str, value: str) -> None:
    """A value does not begin with its caption, if only a short code follows it."""
    form = DrawnForm()
    form.write(60, 100, text)

    assert _read(form, TemplateKey("class", ("9", "CLASS"))) == {"class": value}


@pytest.mark.parametrize(("left", "value"), [(98, "United States Department of State"),
                                             (190, "United States")])  # fmt: skip
def test_centred_lines_below_a_caption_are_one_value(left: float, value: str) -> None:
    """Lines with the same middle as the caption above them are one value; others are not."""
    form = DrawnForm()
    middle = 60 + form.width("Issuing authority / Autorite") / 2
    form.write(60, 100, "Issuing authority / Autorite")
    for y, text in ((128, "United States"), (154, "Department of State")):
        x = middle - form.width(text) / 2
        form.write(x if y == 128 or left < 100 else left, y, text)
    form.write(60, 400, "Sex")

    assert _read(form, TemplateKey("by", ("Issuing authority / Autorite",))) == {"by": value}
