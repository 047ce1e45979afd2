"""Drawn imitations of the forms with shipped templates; all values are invented."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tests.engines.ocr.forms.drawn import DrawnForm

Filled = tuple[DrawnForm, Mapping[str, str]]
"""A form, and the values of some of the entities that its template has."""

_W2 = (
    (300, 40, 260, "a Employee's social security number", "employee_ssn", "123-45-6789"),
    (40, 120, 600, "b Employer identification number (EIN)", "employer_ein", "98-7654321"),
    (640, 120, 270, "1 Wages, tips, other compensation", "wages", "48,500.00"),
    (910, 120, 290, "2 Federal income tax withheld", "federal_income_tax", "6,835.00"),
    (640, 200, 270, "3 Social security wages", "social_security_wages", "50,000.00"),
    (910, 200, 290, "4 Social security tax withheld", "social_security_tax", "3,100.00"),
    (640, 280, 270, "5 Medicare wages and tips", "medicare_wages", "50,000.00"),
    (910, 280, 290, "6 Medicare tax withheld", "medicare_tax", "725.00"),
    (640, 360, 270, "7 Social security tips", "social_security_tips", ""),
    (910, 360, 290, "8 Allocated tips", "allocated_tips", ""),
    (40, 360, 600, "d Control number", "control_number", "A1B2 77"),
    (910, 440, 290, "10 Dependent care benefits", "dependent_care_benefits", ""),
    (640, 520, 270, "11 Nonqualified plans", "nonqualified_plans", "250.00"),
    (280, 700, 190, "16 State wages, tips, etc.", "state_wages", "50,000.00"),
    (470, 700, 180, "17 State income tax", "state_income_tax", "1,535.00"),
    (650, 700, 200, "18 Local wages, tips, etc.", "local_wages", "50,000.00"),
    (850, 700, 170, "19 Local income tax", "local_income_tax", "750.00"),
    (1020, 700, 180, "20 Locality name", "locality_name", "MU"),
)


def draw_w2() -> Filled:
    """Draw a wage and tax statement: boxes with the caption above the value."""
    form = DrawnForm()
    for x, y, width, label, _, value in _W2:
        form.box(x, y, x + width, y + 80)
        form.write(x + 6, y + 6, label, 14)
        if value:
            form.write(x + 40, y + 40, value, 22)
    form.box(40, 200, 640, 360)
    form.write(46, 206, "c Employer's name, address, and ZIP code", 14)
    for place, line in enumerate(("Harbor Tool Works", "77 Dock Road", "Salem, OR 97301")):
        form.write(80, 236 + 34 * place, line, 22)
    form.box(40, 440, 640, 700)
    form.write(46, 446, "e Employee's first name and initial", 14)
    form.write(330, 446, "Last name", 14)
    form.write(60, 480, "Mary A", 22)
    form.write(340, 480, "Keller", 22)
    form.write(60, 540, "12 Elm Street", 22)
    form.write(60, 574, "Phoenix, AZ 85001", 22)
    form.write(46, 670, "f Employee's address and ZIP code", 14)
    form.write(46, 706, "15 State", 14)
    form.write(60, 740, "AZ", 22)
    form.write(110, 706, "Employer's state ID number", 14)
    form.write(120, 740, "555-1234", 22)
    values = {entity: value for _, _, _, _, entity, value in _W2}
    values |= {
        "employer_name_address": "Harbor Tool Works 77 Dock Road Salem, OR 97301",
        "employee_name": "Mary A",
        "employee_last_name": "Keller",
        "state": "AZ",
        "employer_state_id": "555-1234",
    }
    return form, values


_LINES_1040 = (
    ("1a", "Total amount from Form(s) W-2, box 1 (see instructions)", "line_1a_wages", "61,204."),
    ("z", "Add lines 1a through 1h", "line_1z_total_wages", "61,204."),
    ("8", "Additional income from Schedule 1, line 10", "line_8_additional_income", ""),
    (
        "9",
        "Add lines 1z, 2b, 3b, 4b, 5b, 6b, 7, and 8. This is your total income",
        "line_9_total_income",
        "61,530.",
    ),
    (
        "11",
        "Subtract line 10 from line 9. This is your adjusted gross income",
        "line_11_adjusted_gross_income",
        "61,530.",
    ),
    ("14", "Add lines 12 and 13", "line_14_total_deductions", "14,600."),
    (
        "15",
        "Subtract line 14 from line 11. If zero or less, enter -0-. This is your taxable income",
        "line_15_taxable_income",
        "46,930.",
    ),
    ("18", "Add lines 16 and 17", "line_18_tax_sum", "5,395."),
    ("24", "Add lines 22 and 23. This is your total tax", "line_24_total_tax", "5,395."),
)


def draw_1040() -> Filled:
    """Draw an income tax return, whose lines repeat their number before the amount."""
    form = DrawnForm()
    for x, y, width, label, value in (
        (40, 40, 440, "Your first name and middle initial", "Peter M"),
        (480, 40, 460, "Last name", "O'Neil"),
        (940, 40, 260, "Your social security number", "123 45 6789"),
        (40, 110, 440, "If joint return, spouse's first name and middle initial", "Ana"),
        (480, 110, 460, "Last name", "Torres"),
        (940, 110, 260, "Spouse's social security number", "987 65 4321"),
        (
            40,
            180,
            700,
            "City, town, or post office. If you have a foreign address, also "
            "complete spaces below.",
            "Dayton",
        ),
        (740, 180, 200, "State", "OH"),
        (940, 180, 260, "ZIP code", "45402"),
    ):
        form.box(x, y, x + width, y + 70)
        form.write(x + 4, y + 4, label, 13)
        form.write(x + 14, y + 34, value, 22)
    for place, (number, label, _, value) in enumerate(_LINES_1040):
        y = 300 + 50 * place
        form.write(50, y, f"{number} {label}", 17)
        dots = " ." * int((960 - form.width(f"{number} {label}", 17) - 70) / form.width(" .", 17))
        form.write(970 - form.width(dots, 17), y, dots, 17)
        form.box(985, y - 8, 1035, y + 34)
        form.write(1000, y, number, 17)
        form.box(1035, y - 8, 1200, y + 34)
        if value:
            form.write(1190 - form.width(value), y, value)
    values = {entity: value.rstrip(".") for _, _, entity, value in _LINES_1040}
    values |= {
        "first_name": "Peter M",
        "last_name": "O'Neil",
        "ssn": "123 45 6789",
        "spouse_first_name": "Ana",
        "spouse_last_name": "Torres",
        "spouse_ssn": "987 65 4321",
        "city": "Dayton",
        "state": "OH",
        "zip_code": "45402",
    }
    return form, values


def draw_dl() -> Filled:
    """Draw a driver licence: numbered captions of few letters, several per line."""
    form = DrawnForm()
    form.write(60, 40, "DRIVER LICENSE", 34)
    values = {
        "license_number": "D1234562",
        "last_name": "SAMPLE",
        "first_name": "JELANI ANN",
        "date_of_birth": "09/30/1977",
        "issue_date": "09/30/2018",
        "expiration_date": "09/30/2028",
        "class": "C",
        "endorsements": "NONE",
        "restrictions": "CORR LENS",
        "sex": "F",
        "height": "5'-05\"",
        "weight": "125 lb",
        "eyes": "BRN",
        "hair": "BLK",
        "document_discriminator": "83401 06/30/201831/DDFD/23",
        "address": "2570 24TH STREET ANYTOWN, CA 95818",
    }
    form.write(420, 120, "4d DLN D1234562", 26)
    form.write(420, 170, "4b EXP 09/30/2028")
    form.write(760, 170, "4a ISS 09/30/2018")
    form.write(420, 215, "1 LN SAMPLE")
    form.write(420, 255, "2 FN JELANI ANN")
    form.write(420, 300, "8 2570 24TH STREET")
    form.write(420, 328, "ANYTOWN, CA 95818")
    form.write(420, 375, "3 DOB 09/30/1977")
    form.write(420, 420, "9 CLASS C")
    form.write(640, 420, "9a END NONE")
    form.write(860, 420, "12 REST CORR LENS")
    form.write(420, 465, "15 SEX F")
    form.write(560, 465, "16 HGT 5'-05\"")
    form.write(760, 465, "17 WGT 125 lb")
    form.write(420, 510, "18 EYES BRN")
    form.write(600, 510, "19 HAIR BLK")
    form.write(420, 560, "5 DD 83401 06/30/201831/DDFD/23", 16)
    return form, values


def _stacked(rows: Sequence[tuple[int, int, str, str, str]], size: int) -> Filled:
    """Draw captions in small print with the value right below each."""
    form = DrawnForm()
    for x, y, label, _, value in rows:
        form.write(x, y, label, 14)
        form.write(x, y + 20, value, size)
    return form, {entity: value for _, _, _, entity, value in rows}


def draw_passport() -> Filled:
    """Draw a passport: captions in three languages, the value below."""
    return _stacked(
        (
            (400, 100, "Type / Type / Tipo", "type", "P"),
            (560, 100, "Code / Code / Codigo", "country_code", "USA"),
            (
                780,
                100,
                "Passport No. / No. du Passeport / No. de Pasaporte",
                "passport_number",
                "963545637",
            ),
            (400, 165, "Surname / Nom / Apellidos", "surname", "TRAVELER"),
            (400, 230, "Given Names / Prenoms / Nombres", "given_names", "HAPPY PERSON"),
            (
                400,
                295,
                "Nationality / Nationalite / Nacionalidad",
                "nationality",
                "UNITED STATES OF AMERICA",
            ),
            (
                400,
                360,
                "Date of birth / Date de naissance / Fecha de nacimiento",
                "date_of_birth",
                "01 Jan 1981",
            ),
            (
                400,
                425,
                "Place of birth / Lieu de naissance / Lugar de nacimiento",
                "place_of_birth",
                "OHIO, U.S.A.",
            ),
            (900, 425, "Sex / Sexe / Sexo", "sex", "F"),
            (
                400,
                490,
                "Date of issue / Date de delivrance / Fecha de expedicion",
                "date_of_issue",
                "15 Jun 2017",
            ),
            (900, 490, "Authority / Autorite / Autoridad", "authority", "Department of State"),
            (
                400,
                555,
                "Date of expiration / Date d'expiration / Fecha de caducidad",
                "date_of_expiration",
                "14 Jun 2027",
            ),
        ),
        22,
    )


def draw_permanent_resident() -> Filled:
    """Draw a permanent resident card."""
    form, values = _stacked(
        (
            (420, 120, "Surname", "surname", "DOE"),
            (420, 185, "Given Name", "given_name", "JANE MARIE"),
            (420, 250, "USCIS#", "uscis_number", "123-456-789"),
            (720, 250, "Category", "category", "IR1"),
            (420, 315, "Country of Birth", "country_of_birth", "New Zealand"),
            (420, 380, "Date of Birth", "date_of_birth", "03 AUG 1980"),
            (720, 380, "Sex", "sex", "F"),
        ),
        24,
    )
    form.write(420, 460, "Card Expires: 04/17/29", 20)
    form.write(420, 500, "Resident Since: 04/17/19", 20)
    form.write(60, 40, "UNITED STATES OF AMERICA PERMANENT RESIDENT", 24)
    return form, {**values, "card_expires": "04/17/29", "resident_since": "04/17/19"}


def draw_paystub() -> Filled:
    """Draw a pay stub: pairs at the top, earnings in the middle, totals at the bottom."""
    form = DrawnForm()
    values = {}
    for x, y, label, entity, value in (
        (60, 80, "Employee Name:", "employee_name", "Wei Zhang"),
        (60, 120, "Employee ID:", "employee_id", "004417"),
        (60, 160, "Department:", "department", "Assembly"),
        (640, 80, "Pay Period Start:", "period_start", "03/01/2026"),
        (640, 120, "Pay Period End:", "period_end", "03/15/2026"),
        (640, 160, "Pay Date:", "pay_date", "03/20/2026"),
        (60, 240, "Regular Hours", "hours", "80.00"),
        (60, 275, "Hourly Rate", "pay_rate", "21.50"),
        (60, 310, "Federal Income Tax", "federal_income_tax", "188.40"),
        (60, 345, "Social Security", "social_security_tax", "106.64"),
        (60, 380, "Medicare", "medicare_tax", "24.94"),
        (60, 415, "401(k)", "retirement", "68.80"),
        (640, 240, "Gross Pay", "gross_pay", "1,720.00"),
        (640, 275, "Total Deductions", "total_deductions", "388.78"),
        (640, 310, "Net Pay", "net_pay", "$1,331.22"),
        (640, 345, "YTD Gross", "ytd_gross", "8,600.00"),
    ):
        form.write(x, y, label, 18)
        form.write(x + 260, y, value, 18)
        values[entity] = value
    return form, values


DRAWN: Mapping[str, Callable[[], Filled]] = {
    "1040": draw_1040,
    "dl": draw_dl,
    "passport": draw_passport,
    "paystub": draw_paystub,
    "permanentResident": draw_permanent_resident,
    "w2": draw_w2,
}
