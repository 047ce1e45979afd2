"""Positions of values as they occur in real filled forms."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.engines.ocr.forms import certainty
from chalicelib.engines.ocr.forms.finder import find_fields
from chalicelib.formats.templates.form_template import standard_template
from tests.engines.ocr.forms.drawn import DrawnForm


def _read(form: DrawnForm, *keys: TemplateKey) -> dict[str, str]:
    """Return the values of keys."""
    return {each.entity: each.value_text for each in find_fields(form.read(), FormTemplate(keys))}


def test_hidden_digits_belong_to_a_number() -> None:
    """Masking characters are kept as part of a number."""
    form = DrawnForm()
    form.write(60, 100, "SSN: ***-**-1855")
    form.write(60, 160, "Card ************6582")
    form.write(60, 220, "Account: *1008")
    keys = (("ssn", "SSN"), ("card", "Card"), ("account", "Account"))

    fields = _read(form, *(TemplateKey(entity, (caption,)) for entity, caption in keys))

    assert fields == {"ssn": "***-**-1855", "card": "************6582", "account": "*1008"}


def test_value_at_the_bottom_of_a_tall_box_is_found() -> None:
    """In a closed box with one caption the value may be far below it."""
    form = DrawnForm()
    form.box(60, 100, 500, 360)
    form.write(66, 104, "Address", 14)
    form.write(80, 330, "14 Mill Lane", 20)

    assert _read(form, TemplateKey("address", ("Address",))) == {"address": "14 Mill Lane"}


def test_sum_below_a_statement_is_next_to_its_label() -> None:
    """A number next to its caption is its value, even below a column of other values."""
    form = DrawnForm()
    for x, text in ((300, "Rate"), (500, "Hours"), (700, "Current"), (900, "YTD")):
        form.write(x, 100, text)
    for x, text in ((60, "Regular"), (300, "17.50"), (500, "80.00"), (700, "1,400.00")):
        form.write(x, 140, text)
    form.write(60, 260, "Net Pay")
    form.write(300, 260, "1,120.00")

    assert _read(form, TemplateKey("net", ("Net Pay",), ("CURRENCY",))) == {"net": "1,120.00"}


def test_label_without_a_type_has_the_amount_of_the_period() -> None:
    """The period's column of a statement is used for untyped keys, too."""
    form = DrawnForm()
    for x, text in ((300, "Hours"), (500, "Current"), (700, "YTD")):
        form.write(x, 100, text)
    for x, text in ((60, "Overtime"), (300, "8.00"), (500, "210.00"), (700, "2,940.00")):
        form.write(x, 140, text)

    assert _read(form, TemplateKey("overtime", ("Overtime",))) == {"overtime": "210.00"}


def test_empty_cell_behind_a_line_number_has_no_value() -> None:
    """A numbered line with an empty cell does not take the amount of the next column."""
    form = DrawnForm()
    keys = []
    for place, caption in enumerate(("Wages", "Interest", "Dividends", "Pensions"), start=1):
        y = 100 + 60 * place
        form.write(60, y, f"{place} {caption}")
        form.write(500, y, str(place))
        form.box(540, y - 10, 700, y + 36)
        if place != 2:
            form.write(580, y, f"{place}00.00")
        form.write(800, y, f"9{place}5.00")
        keys.append(TemplateKey(caption, (caption,), ("CURRENCY",)))

    values = _read(form, *keys)

    assert values["Interest"] == ""
    assert values["Wages"] == "100.00"


def test_text_in_another_font_size_does_not_continue_a_value() -> None:
    """In a text layer, text of another size below a value does not continue it."""
    form = DrawnForm()
    form.write(60, 100, "Occupation", 14)
    form.write(60, 122, "Cook and", 20)
    form.write(60, 150, "Remarks", 14)
    page = form.read()
    exact = replace(page, lines=tuple(replace(line, probability=1.0) for line in page.lines))

    (field,) = find_fields(exact, FormTemplate((TemplateKey("job", ("Occupation",)),)))

    assert field.value_text == "Cook and"


@pytest.mark.parametrize(
    ("text", "caption", "value"),
    [
        ("10 total 35.00", "total", "35.00"),
        ("12.03.2024 name Anna", "name", "Anna"),
        ("Unit 42 rent 950.00", "rent", "950.00"),
    ],
)
def test_lower_case_caption_may_be_between_numbers(text: str, caption: str, value: str) -> None:
    """A caption in small letters behind a number is found; only "to" and "through" are none."""
    form = DrawnForm()
    form.write(60, 100, text)
    form.write(60, 160, "Period 12/03/2024 to 15/03/2024")

    fields = _read(form, TemplateKey("key", (caption,)), TemplateKey("end", ("to",), ("DATE",)))

    assert fields == {"key": value}


_DETAILS = (
    ("account", "Account number", "10234567", ()),
    ("date", "Statement date", "03/04/2026", ("DATE",)),
    ("due", "Amount due", "$125.40", ("CURRENCY",)),
)


def _probabilities(gap: float, rows: int) -> list[float]:
    """Return the probabilities of values that rows of items follow at a distance in pixels."""
    form = DrawnForm()
    for place, (_, caption, value, _) in enumerate(_DETAILS):
        x = 60 + 370 * place
        form.write(x, 100, caption)
        form.write(x, 140, value)
        for row in range(rows):
            item = ("10450", "01/11/2026", "22.10")[place]
            form.write(x, 140 + gap + 40 * row, item)
    keys = tuple(TemplateKey(entity, (text,), kinds) for entity, text, _, kinds in _DETAILS)
    return [field.probability for field in find_fields(form.read(), FormTemplate(keys))]


@pytest.mark.parametrize("gap", [70, 90])
def test_values_over_items_are_likely(gap: float) -> None:
    """A row of values stays likely if a table follows it at another distance than its rows."""
    assert min(_probabilities(gap, rows=4)) > 0.85


def test_first_row_of_a_column_is_unlikely() -> None:
    """A value is unlikely above two rows of its kind; one may be of the year to date."""
    two, many = (max(_probabilities(40, rows)) for rows in (1, 4))

    assert many < 0.6 < 0.9 < two


def test_other_kind_of_text_below_a_value_is_no_column() -> None:
    """A phone number below a number, or an amount below a date, hardly lowers the probability."""
    form = DrawnForm()
    for x, texts in (
        (60, ("Invoice number", "10234", "(602) 555-0134")),
        (500, ("Due date", "03/04/2026", "$55.00")),
    ):
        for row, text in enumerate(texts):
            form.write(x, 100 + 40 * row, text)
    keys = (
        TemplateKey("number", ("Invoice number",)),
        TemplateKey("due", ("Due date",), ("DATE",)),
    )

    assert min(each.probability for each in find_fields(form.read(), FormTemplate(keys))) > 0.8


def test_places_are_chosen_without_fitted_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """While weights are fitted, the weights of the last fit are not used."""
    monkeypatch.delattr(certainty, "fitted_weights")
    form = DrawnForm()
    form.write(60, 100, "Total: 5.00")
    form.write(60, 200, "Total")
    keys = (TemplateKey("total", ("Total",), ("CURRENCY",)),)

    (field,) = find_fields(form.read(), FormTemplate(keys), weigh=lambda _: 0.5)

    assert (field.value_text, field.probability) == ("5.00", 0.5)


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        ("Total", "3", "$99.00"),
        ("Balance", "2024", "$99.00"),
        ("Name", "Section B", "Anna Smith"),
        ("Account", "Page 1 of 3", "10234567"),
        ("Amount due", "by 03/04/2026", "$12.00"),
    ],
)
def test_surest_value_of_equal_captions_is_chosen(first: str, second: str, value: str) -> None:
    """Of two captions that are equally likely, the one with the better value is chosen."""
    form = DrawnForm()
    form.write(60, 100, first)
    form.write(300, 100, second)
    form.write(60, 200, f"{first}: {value}")
    kinds = ("CURRENCY",) if "$" in value else ()

    assert _read(form, TemplateKey("key", (first,), kinds)) == {"key": value}


def test_caption_in_the_letters_of_the_template_is_chosen() -> None:
    """A caption in capitals is not chosen for a slightly nearer value."""
    form = DrawnForm()
    form.write(60, 100, "Interest")
    form.write(300, 100, "5.00")
    form.write(60, 200, "INTEREST")
    form.write(200, 200, "7.00")

    fields = _read(form, TemplateKey("interest", ("Interest",), ("CURRENCY",)))

    assert fields == {"interest": "5.00"}


@pytest.mark.parametrize("word", ["to", "through"])
def test_word_in_a_range_is_a_caption_only_behind_from(word: str) -> None:
    """A statement from a date to another has a start and an end; a period is one value."""
    start, end = "05/01/2024", "05/31/2024"
    read = []
    for caption in ("From", "Statement Period:"):
        form = DrawnForm()
        form.write(60, 100, f"{caption} {start} {word} {end}")
        fields = find_fields(form.read(), standard_template("bankStatement"))
        read.append({field.entity: field.value_text for field in fields})

    assert read == [
        {"period_start": start, "period_end": end},
        {"statement_period": f"{start} {word} {end}"},
    ]


def test_rest_of_a_caption_is_no_value() -> None:
    """The number of a note, a remark and a second language after a key belong to its caption."""
    form = DrawnForm()
    form.write(60, 100, "Deposits and credits (3)")
    form.write(460, 100, "4,127.66")
    form.write(60, 200, "Gross weight (4) / Poids brut", 14)
    form.write(60, 220, "0.98 kg")
    form.write(460, 200, "Comments (11): (e.g. goods in quarantine) / Remarques", 14)
    form.write(460, 220, "No animal skins")

    fields = _read(
        form,
        TemplateKey("deposits", ("Deposits",), ("CURRENCY",)),
        TemplateKey("weight", ("Gross weight",)),
        TemplateKey("comments", ("Comments",)),
    )

    assert fields == {
        "deposits": "4,127.66",
        "weight": "0.98 kg",
        "comments": "No animal skins",
    }


@pytest.mark.parametrize(
    ("caption", "value"),
    [
        ("Balance ", "(45)"),
        ("Balance (3): ", "(1,200.00)"),
        ("Balance (3): ", "(n/a)"),
        ("Balance(day):", "(212) 555-0100"),
        ("Balance ", "Blue shirt (2)"),
        ("Balance ", "do not call"),
    ],
)
def test_value_that_looks_like_the_rest_of_a_caption_is_found(caption: str, value: str) -> None:
    """A value is no rest of a caption if it is all that follows the key or its colon."""
    form = DrawnForm()
    form.write(60, 100, caption + value)

    assert _read(form, TemplateKey("balance", ("Balance",))) == {"balance": value}


@pytest.mark.parametrize(
    ("caption", "x", "y"), [("Net change:", 60, 124), ("Net change", 190, 100)]
)
def test_small_negative_number_next_to_or_below_a_key_is_its_value(
    caption: str, x: int, y: int
) -> None:
    """A number in brackets is that of a note only if a text follows that may be the value."""
    form = DrawnForm()
    form.write(60, 100, caption)
    form.write(x, y, "(45)")

    assert _read(form, TemplateKey("change", ("Net change",))) == {"change": "(45)"}


@pytest.mark.parametrize("types", [(), ("CURRENCY",), ("NUMBER",)])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Change: -$20.00", "-$20.00"),
        ("Change: - $300.00", "- $300.00"),
        ("Change: −€5.00", "−€5.00"),
        ("Change:  –1,045.10", "–1,045.10"),
        ("Change - 45.10", "45.10"),
    ],
)
def test_sign_of_an_amount_is_part_of_it(text: str, value: str, types: tuple[str, ...]) -> None:
    """A minus stays with its amount; a dash between a caption and an amount is no minus."""
    form = DrawnForm()
    form.write(60, 100, text)

    assert _read(form, TemplateKey("change", ("Change",), types)) == {"change": value}
