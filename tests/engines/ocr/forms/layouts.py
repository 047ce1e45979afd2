"""Forms in many layouts, filled in at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.engines.ocr.forms.drawn import DrawnForm, Facts, make_facts


def _rows(facts: Facts) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return entity, value and key texts of a form about one person."""
    return [
        ("name", facts.name, ("Full Name", "Name of Applicant")),
        ("birth", facts.birth, ("Date of Birth", "DOB")),
        ("phone", facts.phone, ("Daytime Phone", "Telephone")),
        ("mail", facts.mail, ("E-mail Address",)),
        ("job", facts.job, ("Occupation",)),
        ("number", facts.number, ("Policy No.", "Policy Number")),
        ("amount", facts.amount, ("Amount Requested",)),
        ("date", facts.date, ("Effective Date",)),
    ]


def dotted_leaders(seed: int) -> DrawnForm:
    """Labels, dots, values at the right edge; two are empty."""
    form, facts = DrawnForm(), make_facts(seed)
    form.write(100, 40, "REQUEST FOR REPAYMENT", 30)
    for place, (entity, value, texts) in enumerate(_rows(facts)):
        shown = "" if (place + seed) % 4 == 0 else value
        y = 120 + 46 * place
        label = texts[seed % len(texts)]
        end = 1100 - form.width(shown)
        dots = "." * int((end - 130 - form.width(label)) / form.width("."))
        form.write(100, y, f"{label} {dots}")
        if shown:
            form.write(end, y, shown)
        form.expect(entity, shown, *texts)
    return form


def boxed(seed: int, keys: Sequence[str] | None = None) -> DrawnForm:
    """Boxes with a small caption in the corner and the value below; three columns."""
    form, facts = DrawnForm(), make_facts(seed)
    form.write(60, 30, "Claim form", 30)
    for place, (entity, value, texts) in enumerate(_rows(facts)):
        column, row = place % 3, place // 3
        x, y = 60 + 370 * column, 100 + 90 * row
        form.box(x, y, x + 370, y + 90)
        shown = "" if (place + seed) % 5 == 0 else value
        form.write(x + 6, y + 6, texts[seed % len(texts)], 15)
        if shown:
            form.write(x + 16, y + 42, shown, 22)
        if keys is None or entity in keys:
            form.expect(entity, shown, *texts)
    return form


def boxed_partly(seed: int) -> DrawnForm:
    """Boxes, of which the template contains only some."""
    return boxed(seed, ("name", "number", "job", "date"))


def two_columns(seed: int, keys: Sequence[str] | None = None) -> DrawnForm:
    """Two columns of caption, colon and value on separate lines."""
    form, facts = DrawnForm(), make_facts(seed)
    form.write(60, 30, "Registration", 30)
    for place, (entity, value, texts) in enumerate(_rows(facts)):
        x, y = 60 + 600 * (place % 2), 110 + 50 * (place // 2)
        shown = "" if (place + seed) % 6 == 0 else value
        form.write(x, y, texts[seed % len(texts)] + ":")
        if shown:
            form.write(x + 240, y, shown)
        if keys is None or entity in keys:
            form.expect(entity, shown, *texts)
    return form


def two_columns_partly(seed: int) -> DrawnForm:
    """Two columns, of which the template contains only some keys."""
    return two_columns(seed, ("name", "mail", "job", "number"))


def right_aligned(seed: int) -> DrawnForm:
    """Labels that end where the values begin, without colons."""
    form, facts = DrawnForm(), make_facts(seed)
    for place, (entity, value, texts) in enumerate(_rows(facts)):
        y = 100 + 40 * place
        shown = "" if (place + seed) % 7 == 0 else value
        label = texts[seed % len(texts)]
        form.write(400 - form.width(label), y, label)
        if shown:
            form.write(420, y, shown)
        form.expect(entity, shown, *texts)
    return form


def under_the_line(seed: int) -> DrawnForm:
    """Values on lines with the caption in small print below each."""
    form, facts = DrawnForm(), make_facts(seed)
    form.write(60, 30, "Agreement", 30)
    for place, (entity, value, texts) in enumerate(_rows(facts)):
        x, y = 60 + 590 * (place % 2), 140 + 110 * (place // 2)
        shown = "" if (place + seed) % 5 == 0 else value
        if shown:
            form.write(x + 20, y, shown, 22)
        form.rule(x, y + 32, x + 500, y + 32)
        form.write(x, y + 38, texts[seed % len(texts)], 14)
        form.expect(entity, shown, *texts)
    return form


def on_one_line(seed: int) -> DrawnForm:
    """Several keys with values on one line, joined as an engine does."""
    form, facts = DrawnForm(), make_facts(seed)
    rows = _rows(facts)
    for place in range(0, len(rows), 2):
        parts = []
        for entity, value, texts in rows[place : place + 2]:
            parts.append(f"{texts[seed % len(texts)]}: {value}")
            form.expect(entity, value, *texts)
        form.write(60, 100 + 30 * place, "  ".join(parts))
    return form


def grid(seed: int) -> DrawnForm:
    """Draw a ruled table of captions and values."""
    form, facts = DrawnForm(), make_facts(seed)
    for place, (entity, value, texts) in enumerate(_rows(facts)):
        y = 100 + 44 * place
        shown = "" if (place + seed) % 4 == 1 else value
        form.box(60, y, 400, y + 44)
        form.box(400, y, 1000, y + 44)
        form.write(70, y + 10, texts[seed % len(texts)])
        if shown:
            form.write(412, y + 10, shown)
        form.expect(entity, shown, *texts)
    return form


def columns_of_figures(seed: int) -> DrawnForm:
    """Draw headings above a row of figures, and captions with figures next to them."""
    form, facts = DrawnForm(), make_facts(seed)
    form.write(60, 30, "Earnings statement", 28)
    for x, entity, label, value in (
        (60, "gross", "Gross Pay", "3,250.00"),
        (330, "taxes", "Total Taxes", "612.44"),
        (620, "deductions", "Deductions", "120.00"),
        (900, "net", "Net Pay", "2,517.56"),
    ):
        form.write(x, 110, label, 18)
        form.write(x + 4, 142, value)
        form.expect(entity, value, label)
    for place, (entity, value, texts) in enumerate(_rows(facts)[:3]):
        form.write(60, 240 + 40 * place, texts[seed % len(texts)] + ":")
        form.write(300, 240 + 40 * place, value)
        form.expect(entity, value, *texts)
    return form


def long_values(seed: int) -> DrawnForm:
    """Multi-line values: an address, and remarks that wrap to the left edge."""
    form, facts = DrawnForm(), make_facts(seed)
    form.write(60, 60, "Full Name:")
    form.write(260, 60, facts.name)
    form.write(60, 110, "Mailing Address:")
    form.write(260, 110, facts.street)
    form.write(260, 136, facts.city)
    form.write(60, 190, "Remarks:")
    first = "The insured person was informed by telephone on the second of the month that the"
    second = "claim will be paid in two parts, and agreed to it."
    form.write(180, 190, first)
    form.write(60, 216, second)
    form.write(60, 280, "Occupation:")
    form.write(260, 280, facts.job)
    form.expect("name", facts.name, "Full Name")
    form.expect("address", f"{facts.street} {facts.city}", "Mailing Address", types=("ADDRESS",))
    form.expect("remarks", f"{first} {second}", "Remarks")
    form.expect("job", facts.job, "Occupation")
    return form


def long_keys(seed: int) -> DrawnForm:
    """Keys over two lines with the value next to or below them."""
    form, facts = DrawnForm(), make_facts(seed)
    form.write(60, 100, "Name and title of the")
    form.write(60, 124, "person responsible")
    form.write(400, 112, facts.name)
    form.write(60, 190, "Wages, tips, other")
    form.write(60, 214, "compensation")
    form.write(400, 202, facts.amount)
    form.write(60, 280, "Date on which the work")
    form.write(60, 304, "was begun")
    form.write(400, 292, facts.date)
    form.write(60, 370, "Occupation")
    form.write(400, 370, facts.job)
    form.expect("name", facts.name, "Name and title of the person responsible")
    form.expect("wages", facts.amount, "Wages, tips, other compensation", "Wages")
    form.expect("begun", facts.date, "Date on which the work was begun")
    form.expect("job", facts.job, "Occupation")
    return form


def glued(seed: int) -> DrawnForm:
    """Keys and values read without the space between them, and with misreadings."""
    form, facts = DrawnForm(), make_facts(seed)
    form.write(60, 100, f"Applicant{facts.name}")
    form.write(60, 150, f"Occupatlon {facts.job}")
    form.write(60, 200, f"Effective Dafe:{facts.date}")
    form.write(60, 250, f"P0licy N0. {facts.number}")
    form.expect("name", facts.name, "Applicant")
    form.expect("job", facts.job, "Occupation")
    form.expect("date", facts.date, "Effective Date")
    form.expect("number", facts.number, "Policy No.")
    return form


def underscored(seed: int) -> DrawnForm:
    """Underscore lines, filled or empty, and remarks after captions."""
    form, facts = DrawnForm(), make_facts(seed)
    form.write(60, 100, f"Full Name: {facts.name}")
    form.write(60, 150, "Date of Birth (MM/DD/YYYY): ________")
    form.write(60, 200, f"Telephone (with area code) {facts.phone}")
    form.write(60, 250, "Occupation: ____________")
    form.write(60, 300, f"Policy No. ____{facts.number}____")
    form.write(60, 380, "Signature: ____________")
    form.expect("name", facts.name, "Full Name")
    form.expect("birth", "", "Date of Birth")
    form.expect("phone", facts.phone, "Telephone", types=("PHONE",))
    form.expect("job", "", "Occupation")
    form.expect("number", facts.number, "Policy No.")
    return form


LAYOUTS: tuple[Callable[[int], DrawnForm], ...] = (
    dotted_leaders,
    boxed,
    boxed_partly,
    two_columns,
    two_columns_partly,
    right_aligned,
    under_the_line,
    on_one_line,
    grid,
    columns_of_figures,
    long_values,
    long_keys,
    glued,
    underscored,
)
