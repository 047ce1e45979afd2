"""Phone numbers, mail addresses, websites, dates and amounts in a line."""

import pytest

from chalicelib.engines.ocr.kinds.amounts import find_money, find_numbers
from chalicelib.engines.ocr.kinds.dates import find_dates
from chalicelib.engines.ocr.kinds.internet import find_mails, find_websites
from chalicelib.engines.ocr.kinds.phone import correct_digits, digits_of, find_phones


def texts(spans):
    """Return the texts of spans."""
    return [span.text for span in spans]


@pytest.mark.parametrize(
    "number",
    [
        "(716) 319-4874", "826.306.0281", "+1 508 503 1014", "(212)5550100", "5551234567",
        "(555) 555 - 1234", "1-800-555-0199 x42", "1-800-FLOWERS", "+1 (716) 319-4874 ext 5",
        "+49 (0)711 / 123 456-0", "0711/1234567", "030 / 12 34 56-0", "01 23 45 67 89",
        "+44 (0)20 7946 0958", "(+44) 20 7946 0958", "07700 900123", "+91 98765 43210",
        "98765 43210", "1300 655 506", "+81-3-1234-5678", "00 49 711 1234567", "+49 711 5550-123",
        "022-2345 6789", "+33 1 42 68 53 00", "+1.212.555.0100", "555-0123", "(02) 9555 0134",
    ],
)  # fmt: skip
def test_phone(number):
    """Phone numbers of many countries are found whole, also among other words."""
    assert texts(find_phones(number)) == [number]
    assert texts(find_phones(f"Call {number}, please")) == [number]


@pytest.mark.parametrize(
    ("line", "numbers"),
    [
        ("T 555-123-4567 F 555-123-4568", ["555-123-4567", "555-123-4568"]),
        ("+1.212.555.0100 | +1.212.555.0101", ["+1.212.555.0100", "+1.212.555.0101"]),
        ("212 555 0100 / 212 555 0101", ["212 555 0100", "212 555 0101"]),
        ("(O2) 9876 5432", ["(02) 9876 5432"]),
        ("555-0l23", ["555-0123"]),
        ("tel +353 1 234 5678, fax +353 1 234 5679", ["+353 1 234 5678", "+353 1 234 5679"]),
        ("Mon-Fri 8:00-5:00 212 555 0100", ["212 555 0100"]),
    ],
)
def test_phones_of_a_line(line, numbers):
    """Several numbers are separated; letters that are misread digits are corrected."""
    assert texts(find_phones(line)) == numbers


@pytest.mark.parametrize(
    "line",
    [
        "HI 15777", "62704-1234", "07/09/1991", "2021-09-13", "13.09.2021", "123-45-6789",
        "192.168.10.12", "$1,234,567.00", "4111 1111 1111 1111", "2019 - 2021", "12 345 678",
        "9:00 - 17:00", "+49 711", "12-3456789", "", "+", "Suite 400", "100%",
    ],
)  # fmt: skip
def test_other_digits_are_no_phone(line):
    """Dates, codes, card numbers, amounts and hours are not phone numbers."""
    assert find_phones(line) == ()


def test_span_is_where_the_number_stands():
    """A span refers to the line as it was read."""
    line = "Fax: (O2) 9876 5432 now"
    (span,) = find_phones(line)
    assert line[span.start : span.end] == "(O2) 9876 5432"


def test_only_letters_inside_numbers_are_corrected():
    """Words keep their letters, and misread digits are corrected; the length is unchanged."""
    assert correct_digits("Bob Ill 1O l22B") == "Bob Ill 10 1228"
    assert digits_of("O20 Soll") == "020"


@pytest.mark.parametrize(
    ("line", "mails"),
    [
        ("Email: dana@orchid.test", ["dana@orchid.test"]),
        ("dana @ orchid.com", ["dana@orchid.com"]),
        ("dana.reyes@orchid,com", ["dana.reyes@orchid.com"]),
        ("dana.reyes@orchid .com", ["dana.reyes@orchid.com"]),
        ("dana@orchid.com, www.orchid.com", ["dana@orchid.com"]),
        ("dana. reyes@orchid.test", ["dana.reyes@orchid.test"]),
        ("E. dana@x.co.uk", ["dana@x.co.uk"]),
        ("dana©orchid.com", ["dana@orchid.com"]),
        ("dana@orchid com", ["dana@orchid com"]),
        ("d.o'neil@mail.orchid.co.uk Tel", ["d.o'neil@mail.orchid.co.uk"]),
        ("dana_r@orchid.de. Call", ["dana_r@orchid.de"]),
        ("info@a-b.com info2@a-b.com", ["info@a-b.com", "info2@a-b.com"]),
        ("@orchid", []),
        ("a@b", []),
        ("5 @ 3.50", []),
        ("@", []),
        ("", []),
    ],
)
def test_mails(line, mails):
    """Spaces and commas in mail addresses are corrected; missing parts are not added."""
    assert texts(find_mails(line)) == mails


@pytest.mark.parametrize(
    ("line", "sites"),
    [
        ("W: www.moore.net", ["www.moore.net"]),
        ("www. orchid . com", ["www.orchid.com"]),
        ("www,orchid,com", ["www.orchid.com"]),
        ("http://orchid.com/a/b?c=1.", ["http://orchid.com/a/b?c=1"]),
        ("orchid.com, Berlin", ["orchid.com"]),
        ("linkedin.com/in/dana", ["linkedin.com/in/dana"]),
        ("www.orchid.com www.orchid.de", ["www.orchid.com", "www.orchid.de"]),
        ("ORCHID.CO.UK", ["ORCHID.CO.UK"]),
        ("dana@orchid.com", []),
        ("Ph.D.", []),
        ("St.Louis", []),
        ("P.O. Box 12.50 e.g. this", []),
    ],
)
def test_websites(line, sites):
    """Websites are found with and without www; abbreviations and mail addresses are not."""
    assert texts(find_websites(line)) == sites


@pytest.mark.parametrize(
    "date",
    [
        "July 09, 1991", "09/13/2021", "2021-09-13", "13.09.2021", "2021-09-13T10:11:12Z",
        "09/13/2021 10:15 AM", "Monday, 3rd of March 2020 at 5 pm", "12-Jan-99", "March 2021",
        "Jan '21", "10:30", "5 pm", "4 July", "Tue 5/6/21", "14 juillet 2020", "JULY 9 1991",
        "Jan. 5, 2020, 14:00 UTC", "July 09 , 1991", "12/2025", "20210913", "1er mars 2026",
        "12 de junio de 2026", "12 giugno 2026", "28 februari 2026", "25. marts 2026",
        "3 września 2026", "21. října 2026", "3 EKIM 2026", "5 out. 2026", "1. maaliskuuta 2026",
        "2026年3月1日", "31.10.2026 10.30 Uhr", "14h30", "12 fevrier 2026", "2. MAERZ 2026",
    ],
)  # fmt: skip
def test_date(date):
    """Dates and times in many formats are found whole."""
    assert texts(find_dates(date)) == [date]
    assert texts(find_dates(f"Due {date} or so")) == [date]


@pytest.mark.parametrize(
    "line", ["99/99/2021", "(716) 319-4874", "1.2.3.4", "May", "45:99", "v1.2.20", "12 set 20"]
)
def test_other_digits_are_no_date(line):
    """Invalid days and months, numbers and versions are not dates."""
    assert [one.text for one in find_dates(line) if one.confidence > 0.5] == []


def test_full_date_is_surer_than_a_part():
    """A date with a year is more probable than one without, and than a time."""
    full, part, time = (
        find_dates(text)[0].confidence for text in ("4 July 2020", "4 July", "10:30")
    )
    assert full > part > time


@pytest.mark.parametrize(
    ("line", "amounts"),
    [
        ("Total $1,234.00 due", ["$1,234.00"]),
        ("EUR 12,50", ["EUR 12,50"]),
        ("USD 1.234,50", ["USD 1.234,50"]),
        ("5 €", ["5 €"]),
        ("(1,234.50)", ["(1,234.50)"]),
        ("Balance 1,114.30- of 5.00-10.00", ["1,114.30-"]),
        ("$1,234.O0", ["$1,234.00"]),
        ("1.5 of 12", []),
        ("Total ₹ 1,17,859.00 and 2,04,118.50", ["₹ 1,17,859.00", "2,04,118.50"]),
        ("Rs. 1,17,859/- paid", ["Rs. 1,17,859/-"]),
        ("23.100,00 kr. og 7.700,- kr.", ["23.100,00 kr.", "7.700,- kr."]),
        ("R 31 540.00 R189.50", ["R 31 540.00", "R189.50"]),
        ("R$ 1.234,56", ["R$ 1.234,56"]),
        ("Rp 1.250.000", ["Rp 1.250.000"]),
        ("8 214.66", ["8 214.66"]),
        ("2 150.00 each", ["150.00"]),
        ("Platform R 5", []),
        ("-$20.00 and −$5.00", ["-$20.00", "-$5.00"]),
        ("- $300.00", ["- $300.00"]),
        ("$5 - $10, 10 - 45.10", ["$5", "$10", "45.10"]),
        ("-USD 45.10", ["-USD 45.10"]),
        ("$(45.10)", ["$(45.10)"]),
        ("$1.2M and 1,5 Mio. €", ["$1.2M", "1,5 Mio. €"]),
        ("726.64 CR", ["726.64 CR"]),
    ],
)
def test_money(line, amounts):
    """Amounts in the notations of many countries are found whole; plain numbers are no amounts."""
    assert texts(find_money(line)) == amounts


def test_numbers():
    """Numbers with separators and percent are found; digits inside words are not."""
    assert texts(find_numbers("1,234 items 5.5% A12 x")) == ["1,234", "5.5%"]
    assert texts(find_numbers("1,17,859 and 1.250.000")) == ["1,17,859", "1.250.000"]
