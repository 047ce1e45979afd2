"""Layout families of business papers: invoices, bills, certificates, and lines for signatures."""

from __future__ import annotations

from bench.form_pages.contents import FIRMS, JOBS, NAMES, Entry, amount, draw_entry
from bench.form_pages.parts import opening, write_value
from bench.form_pages.sheet import MARGIN, WIDTH, Sheet

GOODS = ("Steel bracket 40 mm", "Consulting, per hour", "Delivery", "Oak shelf", "Cable set, 5 m")
SIGNER_CAPTIONS = ("Printed name", "Name of signatory", "Name (please print)", "Signed by")


def invoice(sheet: Sheet, ruled: bool, mark: str) -> None:
    """Write an invoice: sender and details, a list of goods, and sums below the last column."""
    names = sheet.random.sample(("customer", "reference", "date", "expiry", "number"), 4)
    details = [draw_entry(sheet.random, name, "en", 0.0) for name in names]
    sums = [draw_entry(sheet.random, name, "en", 0.0) for name in ("net", "tax", "total")]
    sheet.entries = [*details, *sums]
    sheet.write(MARGIN, 70, sheet.random.choice(FIRMS), sheet.caption_font, 36)
    sheet.write(MARGIN, 120, "12 Station Street, 20416 Marlow", sheet.value_font, 20)
    sheet.write(WIDTH - 330, 70, "INVOICE", "DejaVuSans-Bold.ttf", 44)
    middle, y = WIDTH / 2 + 40, 190.0
    for entry in details:
        caption = sheet.fitting(entry, 250).captions[0] + mark
        sheet.caption(middle, y, caption)
        write_value(sheet, entry, middle + 280, y, WIDTH - 30)
        y += sheet.row(1)
    columns = (MARGIN, MARGIN + 480, MARGIN + 640, MARGIN + 880)
    y = max(y, 380.0) + 50
    for x, text in zip(columns, ("Description", "Qty", "Unit price", "Amount"), strict=True):
        sheet.caption(x, y, text)
    for good in sheet.random.sample(GOODS, sheet.random.randint(2, 5)):
        y += sheet.row(1) + 6
        if ruled:
            sheet.rule(MARGIN, y - 6, WIDTH - MARGIN, y - 6)
        cells = (good, str(sheet.random.randint(1, 20)), *(_price(sheet) for _ in range(2)))
        for x, text in zip(columns, cells, strict=True):
            sheet.value(x, y, text)
    y += sheet.row(1) + 30
    for entry in sums:
        caption = sheet.fitting(entry, 260).captions[0] + mark
        sheet.caption(columns[2] - 40, y, caption)
        sheet.value(columns[3], y, entry.value)
        y += sheet.row(1)


def bill(sheet: Sheet, boxed: bool) -> None:
    """Write a bill with a panel of the details that matter, and a part to send back below."""
    names = ("name", "customer", "date", "expiry", "total")
    sheet.entries = [draw_entry(sheet.random, name, "en", 0.0) for name in names]
    top = opening(sheet) + 20
    height = sheet.row(2) + 10
    left = WIDTH / 2
    for place, entry in enumerate(sheet.entries):
        y = top + place * height
        entry = sheet.fitting(entry, 250)
        if boxed:
            sheet.image.paste(232, (int(left), int(y), WIDTH - MARGIN, int(y + height)))
            sheet.frame(left, y, WIDTH - MARGIN, y + height)
        sheet.caption(left + 12, y + 10, entry.captions[0])
        write_value(sheet, entry, left + 280, y + 10, WIDTH - MARGIN - 6)
    y = top
    for text in ("Northgate Tools", "Customer service 8 am to 6 pm", "1 800 555 0142"):
        sheet.value(MARGIN, y, text)
        y += sheet.row(1)
    y = top + 5 * height + 80
    sheet.prose(y, "Please detach this part and return it with your payment.", 18)
    sheet.value(MARGIN, y + 60, "Northgate Tools, 3 Mill Lane, 48810 Ashford")


def certificate(sheet: Sheet, columns: int) -> None:
    """Write a certificate: values in larger print, centred over small captions on rules."""
    sheet.value_size = sheet.random.randint(26, 32)
    sheet.caption_size = sheet.random.randint(16, 20)
    names = sheet.random.sample(("name", "date", "number", "firm", "town", "job"), 2 * columns)
    sheet.entries = [draw_entry(sheet.random, name, "en", 0.0) for name in names]
    top = opening(sheet) + 80
    width = (WIDTH - 2 * MARGIN) / columns
    for place, entry in enumerate(sheet.entries):
        x = MARGIN + place % columns * width
        y = top + place // columns * (sheet.row(1, 1) + 70)
        entry = sheet.fitting(entry, width - 60)
        middle = x + width / 2
        sheet.value(max(x, middle - sheet.value_width(entry.value) / 2), y, entry.value, x + width)
        y += 1.4 * sheet.value_size
        sheet.rule(x + 20, y, x + width - 20, y)
        caption = entry.captions[0]
        sheet.caption(middle - sheet.caption_width(caption) / 2, y + 6, caption)


def signatures(sheet: Sheet, below: bool) -> None:
    """Write lines to sign on, with the signer's name printed below or above its caption."""
    y = opening(sheet)
    y = sheet.prose(y, "I certify that the answers above are true and complete.") + 90
    first, last = sheet.random.choice(NAMES)
    name = Entry("signer", (sheet.random.choice(SIGNER_CAPTIONS),), *_plain(f"{first} {last}"))
    job = Entry("job", ("Title",), *_plain(sheet.random.choice(JOBS)))
    date = draw_entry(sheet.random, "date", "en", 0.0)
    sheet.entries = [name, job, date]
    width = (WIDTH - 2 * MARGIN) / 2
    for place, entry in enumerate((None, *sheet.entries)):
        x, top = MARGIN + place % 2 * width, y + place // 2 * (150 + sheet.row(1))
        end = x + width - 50
        base = top + 1.4 * sheet.value_size
        if entry is None:
            sheet.rule(x, base, end, base)
            sheet.caption(x, base + 6, "Signature")
            continue
        entry = sheet.fitting(entry, width - 60)
        if below:
            sheet.caption(x, top, entry.captions[0] + ":")
            sheet.value(x, top + 1.4 * sheet.caption_size, entry.value, end)
        else:
            sheet.value(x + 10, top, entry.value, end)
            sheet.rule(x, base, end, base)
            sheet.caption(x, base + 6, entry.captions[0])


def _plain(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a value of one line, as an entry holds it."""
    return text, (text,)


def _price(sheet: Sheet) -> str:
    return amount(sheet.random, "en").lstrip("$")
