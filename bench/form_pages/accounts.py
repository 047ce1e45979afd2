"""Layout families of business papers with the templates that ship: pay slips, invoices."""

from __future__ import annotations

from collections.abc import Sequence

from bench.form_pages.contents import Entry
from bench.form_pages.issued import Issuer, digits
from bench.form_pages.sheet import MARGIN, WIDTH, Sheet

ITEMS = (
    "Repair kit", "Oak shelf 80 cm", "Site visit", "Copper wire 2.5", "Monthly service fee",
    "Printer paper", "Gloves, size 9", "Paint 2 l", "Design work", "Annual licence",
)  # fmt: skip
ITEM_HEADS = ("Qty", "Unit Price", "Amount")
# Heads of item tables that are also captions of the invoice's sums.
TOTAL_HEADS = (
    ("Qty", "Price", "Total"), ("Hours", "Rate", "Tax", "Total"),
    ("Qty", "Subtotal", "VAT", "Total"), ("Qty", "Discount", "Net amount", "Total"),
    ("Qty", "Price", "Tax", "Paid", "Balance"),
    ("Qty", "Total", "Discount", "Amount due"), ("Days", "Net total", "GST", "Gross total"),
)  # fmt: skip
MOVEMENTS = ("POS PURCHASE", "DEPOSIT", "ACH TRANSFER", "DEBIT 1042", "ATM WITHDRAWAL", "INTEREST")
TAXES = ("federal_income_tax", "social_security_tax", "medicare_tax", "state_income_tax")


def details(sheet: Sheet, entries: Sequence[Entry], x: float, y: float, style: str) -> float:
    """Write captions with values behind them, below them or in a row of cells; return the end."""
    widest = max(sheet.caption_width(entry.captions[0] + ":") for entry in entries)
    if style in ("cells", "above"):
        step = (WIDTH - MARGIN - x) / len(entries)
        height = 1.4 * sheet.caption_size
        for place, entry in enumerate(entries):
            left = x + place * step
            sheet.caption(left + 6, y + 2, entry.captions[0], 0.9)
            sheet.value(left + 6, y + height + 6, entry.value, left + step - 6)
            if style == "cells":
                sheet.frame(left, y - 4, left + step, y + height)
                sheet.frame(left, y + height, left + step, y + height + 1.7 * sheet.value_size)
        return y + height + 2.2 * sheet.value_size
    for entry in entries:
        mark = ":" if style == "colon" else ""
        end = sheet.caption(x, y, entry.captions[0] + mark).max_x
        left = end + 12 if style == "colon" and sheet.looseness < 0.3 else x + widest + 20
        top = y
        for line in entry.lines:
            sheet.aligned(left, top, line)
            top += 1.3 * sheet.value_size
        y = max(y + 1.6 * sheet.value_size, top)
    return y


def _block(sheet: Sheet, entry: Entry, x: float, y: float) -> float:
    """Write a caption over the lines of an address; return the end."""
    sheet.caption(x, y, entry.captions[0] + sheet.random.choice((":", "")))
    y += 1.6 * sheet.caption_size
    for line in entry.lines:
        sheet.value(x, y, line, x + 480)
        y += 1.3 * sheet.value_size
    return y


def _text_sizes(sheet: Sheet) -> None:
    sheet.value_size = sheet.random.choice((18, 20, 22, 24))
    sheet.caption_size = sheet.value_size - sheet.random.choice((0, 0, 2, 4))


def pay_statement(
    sheet: Sheet, style: str, ruled: bool, adjacent: bool, blocks: bool = False
) -> None:
    """Write a pay statement: details over tables of earnings and of deductions.

    With `blocks`, names and addresses of the firm and of the person are at the end, as in the
    windows of envelopes.
    """
    _text_sizes(sheet)
    sheet.value_size = sheet.caption_size = min(20, sheet.caption_size)
    issuer = Issuer(sheet, "paystub", dates=(0, 2))
    sheet.doubtful |= {"pay_rate", "hours", "overtime_hours", "ytd_gross", "ytd_net"}
    if not blocks:
        _letterhead(sheet, issuer)
    sheet.write(WIDTH - 420, 60, "Earnings Statement", sheet.caption_font, 28)
    names = ["employee_name", "employee_id", "ssn", "pay_date", "check_number", "department"]
    period = sheet.random.choice((("pay_period",), ("period_start", "period_end")))
    entries = issuer.entries([*sheet.random.sample(names[blocks:], 4), *period])
    columns = style in ("cells", "above")
    end = details(sheet, entries[:3], MARGIN, 150, style)
    if columns:
        y = details(sheet, entries[3:], MARGIN, end + 6, style) + 30
    else:
        y = max(end, details(sheet, entries[3:], WIDTH / 2 + 30, 150, style)) + 30
    width = (WIDTH - 2 * MARGIN - 20) / 2 if adjacent else WIDTH - 2 * MARGIN
    earned = ("regular_pay", "overtime_pay", "bonus")[: sheet.random.randint(1, 3)]
    place = (MARGIN, y, width)
    bottom = _columns(sheet, issuer, "Earnings", earned, place, ruled, True)
    held = [*TAXES[: sheet.random.randint(2, 4)], *sheet.random.sample(
        ("health_insurance", "retirement", "local_tax"), sheet.random.randint(0, 2))]  # fmt: skip
    place = (MARGIN + width + 20, y, width) if adjacent else (MARGIN, bottom + 20, width)
    bottom = max(bottom, _columns(sheet, issuer, "Deductions", held, place, ruled, False)) + 30
    sums = ["gross_pay", "total_deductions", "net_pay"]
    style = sheet.random.choice(("colon", "plain", "cells"))
    details(sheet, issuer.entries(sums), MARGIN, bottom, style)
    if blocks:
        _holders(sheet, issuer, bottom + 260)


def _letterhead(sheet: Sheet, issuer: Issuer) -> None:
    """Write the firm at the head without a caption."""
    sheet.doubtful |= {"employer", "employer_address", "employee_address"}
    employer = issuer.firm()
    sheet.write(MARGIN, 60, employer, sheet.caption_font, 26)
    sheet.write(MARGIN, 96, f"{issuer.street()}, {issuer.town()}", sheet.value_font, 18)


def _holders(sheet: Sheet, issuer: Issuer, y: float) -> None:
    """Write name and address of a firm, and of a person to its right or below it."""
    x = MARGIN + 20.0
    for holder in ("employer", "employee_name"):
        address = "employee_address" if "name" in holder else "employer_address"
        name = issuer.entries((holder,))[0].lines
        lines = (issuer.street(), issuer.town())
        issuer.put(address, " ".join(lines))
        for place, line in enumerate((*name, *lines)):
            sheet.value(x, y + 1.3 * place * sheet.value_size, line)
        x, y = sheet.random.choice(((x, y + 140), (x + 560, y + 20)))


def pay_summary(sheet: Sheet) -> None:
    """Write a pay statement with sums under heads: a row of the period over a row of the year."""
    _text_sizes(sheet)
    issuer = Issuer(sheet, "paystub", dates=(0, 2))
    sheet.doubtful |= {"ytd_gross", "ytd_deductions", "ytd_net"}
    _letterhead(sheet, issuer)
    names = sheet.random.sample(("employee_id", "department", "pay_date", "ssn"), 3)
    y = details(sheet, issuer.entries((*names, "pay_period")), MARGIN, 150, "colon") + 40
    rows = sheet.random.choice((("", ""), ("Current", "YTD"), ("This period", "Year to date")))
    step = sheet.random.choice((1.4, 1.8)) * sheet.value_size
    for place, text in enumerate(rows, start=1):
        sheet.caption(MARGIN, y + place * step, text)
    sums = ("gross_pay", "total_taxes", "total_deductions", "net_pay")
    for place, entry in enumerate(issuer.entries(sums)):
        x = MARGIN + 170.0 + 235 * place
        sheet.caption(x, y, entry.captions[0])
        year = issuer.year.amount(entry.entity, float(issuer.amount().lstrip("$").replace(",", "")))
        for row, text in enumerate((entry.value, f"{year:,.2f}")):
            sheet.aligned(x, y + (row + 1) * step, text, x + 225)


def coded_statement(sheet: Sheet, ruled: bool, adjacent: bool) -> None:
    """Write a pay statement whose tables end with totals; the net pay is alone below them."""
    sheet.value_size = sheet.caption_size = sheet.random.choice((15, 16, 18))
    issuer = Issuer(sheet, "paystub", dates=(0, 2))
    sheet.doubtful |= {"pay_rate", "hours", "overtime_hours", "ytd_gross", "ytd_deductions"}
    sheet.doubtful |= {"employer", "employer_address", "employee_address"}
    sheet.write(MARGIN, 60, issuer.firm(), sheet.caption_font, 26)
    names = sheet.random.sample(("employee_id", "department", "pay_date", "ssn"), 3)
    y = details(sheet, issuer.entries((*names, "pay_period")), MARGIN, 130, "colon") + 30
    width = (WIDTH - 2 * MARGIN - 60) / 2 if adjacent else WIDTH - 2 * MARGIN
    earned = ["regular_pay", "overtime_pay", "bonus"][: sheet.random.randint(1, 3)]
    place = (MARGIN, y, WIDTH - 2 * MARGIN)
    y = _columns(sheet, issuer, "Earnings", [*earned, "gross_pay"], place, ruled, True) + 40
    held = [*sheet.random.sample(("health_insurance", "retirement"), 1), "total_deductions"]
    below = _columns(sheet, issuer, "Deductions", held, (MARGIN, y, width), ruled, False) + 40
    left, top = (MARGIN + width + 60, y) if adjacent else (MARGIN, below)
    taxes = [*sheet.random.sample(TAXES, sheet.random.randint(2, 4)), "total_taxes"]
    bottom = _columns(sheet, issuer, "Taxes", taxes, (left, top, width), ruled, False)
    y = max(below, bottom) + 1.5 * sheet.value_size
    for entry in issuer.entries(("net_pay",)):
        sheet.caption(left, y, entry.captions[0])
        if sheet.random.random() < 0.5:
            sheet.aligned(left + 0.45 * width, y, f"XXXX{digits(sheet.random, 4)}")
        sheet.aligned(left + 0.99 * width - sheet.value_width(entry.value), y, entry.value)


def _columns(
    sheet: Sheet, issuer: Issuer, title: str, rows: Sequence[str],
    place: tuple[float, float, float], ruled: bool, has_hours: bool,
) -> float:  # fmt: skip
    """Write a table of amounts of the period and of the year; return where it ends."""
    x, y, width = place
    ends = [x + share * width for share in ((0.5, 0.62, 0.8, 0.99) if has_hours else (0.72, 0.99))]
    heads = ("Rate", "Hours", "Current", "YTD") if has_hours else ("Current", "YTD")
    if not has_hours and title == "Deductions" and sheet.random.random() < 0.5:
        heads = ("This Period", "Year to Date")
    sheet.caption(x, y, title)
    for head, end in zip(heads, ends, strict=True):
        sheet.caption(end - sheet.caption_width(head), y, head)
    step = 1.5 * sheet.value_size
    for entity in rows:
        y += step
        entry = issuer.entry(entity)
        current = issuer.amount_of(entity, 4000).lstrip("$")
        sheet.entries.append(Entry(entity, entry.captions, current, (current,), entry.type))
        is_total = entity.startswith(("total", "gross"))
        sheet.caption(x, y, "Total" if is_total else entry.captions[0])
        total = f"{issuer.year.amount(entity, sheet.random.uniform(4000, 60_000)):,.2f}"
        cells = (f"{sheet.random.uniform(12, 90):.4f}", "80.00", current, total)
        if not has_hours:
            cells = cells[2:]
        elif entity == "bonus" or is_total:
            cells = ("", "", *cells[2:])
        for text, end in zip(cells, ends, strict=True):
            sheet.aligned(end - sheet.value_width(text), y, text)
        if ruled:
            sheet.rule(x, y + step - 4, x + width, y + step - 4)
    return y + step


def bill(sheet: Sheet, style: str, ruled: bool, totals: bool = False) -> None:
    """Write an invoice: firm, details, addressees, items, sums at the right, payment details.

    With `totals`, columns of the items have heads like the sums.
    """
    _text_sizes(sheet)
    issuer = Issuer(sheet, "invoice")
    sheet.write(MARGIN, 60, issuer.firm(), sheet.caption_font, 34)
    for place, text in enumerate((issuer.street(), issuer.town())):
        sheet.write(MARGIN, 110 + 28 * place, text, sheet.value_font, 19)
    sheet.write(WIDTH - 380, 60, "INVOICE", "DejaVuSans-Bold.ttf", 42)
    names = ["invoice_number", "invoice_date", "due_date", "purchase_order", "customer_number",
             "payment_terms", "sales_person"]  # fmt: skip
    count = sheet.random.randint(3, 5)
    chosen = [name for name in names if name in sheet.random.sample(names, count)]
    in_row = style in ("cells", "above")
    if not in_row:
        details(sheet, issuer.entries(chosen), WIDTH - 560, 130, style)
    y = 330.0
    blocks = issuer.entries(("bill_to", "ship_to")[: sheet.random.randint(1, 2)])
    y = max(_block(sheet, each, MARGIN + at * 540, y) for at, each in enumerate(blocks)) + 30
    if in_row:
        y = details(sheet, issuer.entries(chosen), MARGIN, y, style)
    heads = sheet.random.choice(TOTAL_HEADS) if totals else ITEM_HEADS
    y = _items(sheet, issuer, y + 10, ruled, heads)
    sums = ["subtotal", "discount", "shipping", "tax", "total", "amount_paid", "amount_due"]
    some = set(sheet.random.sample(sums[:4] + sums[5:6], 2)) | {"total"}
    mark = sheet.random.choice((":", ""))
    for entry in issuer.entries([name for name in sums if name in some]):
        y += 1.6 * sheet.value_size
        sheet.caption(WIDTH - 520, y, entry.captions[0] + mark)
        sheet.aligned(WIDTH - MARGIN - sheet.value_width(entry.value), y, entry.value)
    y += 80
    details(sheet, issuer.entries(("phone", "email", "bank_account")), MARGIN, y, "colon")


def _items(sheet: Sheet, issuer: Issuer, y: float, ruled: bool, heads: Sequence[str]) -> float:
    """Write a table of items; return where it ends."""
    ends = [MARGIN + 600.0, MARGIN + 800.0, WIDTH - MARGIN]
    if len(heads) > len(ends):
        step = 640 / (len(heads) - 1)
        ends = [WIDTH - MARGIN - step * left for left in reversed(range(len(heads)))]
    sheet.caption(MARGIN, y, "Description")
    for end, text in zip(ends, heads, strict=True):
        sheet.caption(end - sheet.caption_width(text), y, text)
    for item in sheet.random.sample(ITEMS, sheet.random.randint(2, 6)):
        y += 1.7 * sheet.value_size
        sheet.value(MARGIN, y, item)
        cells = [str(sheet.random.randint(1, 20)), issuer.amount(900), issuer.amount(4000)]
        cells += [issuer.amount(4000) for _ in heads[3:]]
        for end, text in zip(ends, cells, strict=True):
            sheet.aligned(end - sheet.value_width(text), y, text)
        if ruled:
            bottom = y + 1.5 * sheet.value_size
            sheet.rule(MARGIN, bottom, WIDTH - MARGIN, bottom)
    return y + 1.5 * sheet.value_size


def till_slip(sheet: Sheet, mark: str) -> None:
    """Write a receipt: a narrow column with items, sums, and how it was paid."""
    sheet.value_font = sheet.caption_font = sheet.random.choice(
        ("DejaVuSansMono.ttf", "cmtt10.ttf", "DejaVuSans.ttf")
    )
    sheet.caption_size = sheet.value_size = sheet.random.choice((20, 22, 24))
    issuer = Issuer(sheet, "receipt", dates=(0, 2, 3))
    left, right, y, step = 280.0, 960.0, 70.0, 1.5 * sheet.value_size
    for text in (issuer.firm(), issuer.street(), f"(555) 555-0{digits(sheet.random, 3)}"):
        sheet.caption((left + right - sheet.caption_width(text)) / 2, y, text)
        y += step
    heads = ["receipt_number", "cashier", "register", "table", "guests"]
    top = issuer.entries([*sheet.random.sample(heads, 2), "date", "time"])
    for at in range(0, 4, 2):
        y += step
        for entry, x in zip(top[at : at + 2], (left, (left + right) / 2), strict=True):
            end = sheet.caption(x, y, entry.captions[0] + mark).max_x
            sheet.aligned(end + 10, y, entry.value)
    for item in sheet.random.sample(ITEMS, sheet.random.randint(2, 5)):
        y += step
        price = issuer.amount(90)
        sheet.value(left, y, f"{sheet.random.choice(('', '2 ', '1 x '))}{item}")
        sheet.value(right - sheet.value_width(price), y, price)
    y += step / 2
    ways = sheet.random.choice((["cash", "change"], ["card_amount", "card_number"]))
    for entry in issuer.entries(["subtotal", "tax", "total", *ways, "authorization_code"]):
        y += step
        sheet.caption(left, y, entry.captions[0] + mark)
        sheet.aligned(right - sheet.value_width(entry.value), y, entry.value)
    sheet.caption(left + 60, y + 2 * step, "THANK YOU! COME AGAIN")


def account_statement(sheet: Sheet, style: str, ruled: bool, columns: int = 1) -> None:
    """Write a bank statement: holder, details, a summary, and movements with balances."""
    _text_sizes(sheet)
    issuer = Issuer(sheet, "bankStatement", dates=(0, 2, 6))
    sheet.doubtful |= {"period_start", "period_end", "account_holder"}
    sheet.write(MARGIN, 60, "First Harbour Bank", sheet.caption_font, 34)
    holder = (issuer.person(), issuer.street(), issuer.town())
    for place, text in enumerate(holder):
        sheet.value(MARGIN, 170 + 30 * place, text)
    names = ("account_number", "statement_date", "statement_period", "customer_number")
    entries = issuer.entries(sheet.random.sample(names, 3))
    if style in ("cells", "above"):
        y = details(sheet, entries, MARGIN, 300, style) + 20
    else:
        y = max(300.0, details(sheet, entries, WIDTH / 2, 170, style)) + 20
    sheet.write(MARGIN, y, "Account Summary", sheet.caption_font, 24)
    sums = ["opening_balance", "deposits", "withdrawals", "fees", "interest", "closing_balance"]
    for place, entry in enumerate(issuer.entries(sums)):
        y += 0 if place % columns else 1.7 * sheet.value_size + 6
        x = MARGIN + place % columns * 550
        end = x + (640 if columns == 1 else 510)
        sheet.caption(x, y, entry.captions[0])
        sheet.aligned(end - sheet.value_width(entry.value), y, entry.value)
        if ruled:
            bottom = y + 1.5 * sheet.value_size
            sheet.rule(x, bottom, end + 10, bottom)
    _movements(sheet, issuer, y + 90)


def _movements(sheet: Sheet, issuer: Issuer, y: float) -> None:
    """Write a list of movements with amounts and balances."""
    ends = (MARGIN + 760, WIDTH - MARGIN)
    for x, text in ((MARGIN, "Date"), (MARGIN + 160, "Description")):
        sheet.caption(x, y, text)
    for end, text in zip(ends, ("Amount", "Balance"), strict=True):
        sheet.caption(end - sheet.caption_width(text), y, text)
    for _ in range(sheet.random.randint(4, 9)):
        y += 1.7 * sheet.value_size
        sheet.value(MARGIN, y, f"0{sheet.random.randint(1, 9)}/1{sheet.random.randint(0, 9)}")
        sheet.value(MARGIN + 160, y, sheet.random.choice(MOVEMENTS))
        for end in ends:
            text = issuer.amount(3000).lstrip("$")
            sheet.aligned(end - sheet.value_width(text), y, text)
