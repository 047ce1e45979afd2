"""How the amounts and dates of one document agree: sums, taxes by law, dates in order.

Six of seven documents agree; on the others, amounts and dates are unrelated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_TAXES = ("federal_income_tax", "social_security_tax", "medicare_tax", "state_income_tax",
          "local_tax")  # fmt: skip
SUMS: Mapping[str, tuple[str, ...]] = {
    "gross_pay": ("regular_pay", "overtime_pay", "bonus"),
    "total_taxes": _TAXES, "total_deductions": (*_TAXES, "health_insurance", "retirement"),
    "net_pay": ("gross_pay", "-total_taxes", "-total_deductions"),
    "total": ("subtotal", "-discount", "shipping", "service_charge", "tax", "tip"),
    "amount_due": ("total", "-amount_paid"), "change": ("cash", "-total"),
    "card_amount": ("total",),
    "closing_balance": ("opening_balance", "deposits", "interest", "-withdrawals", "-checks",
                        "-fees"),
    "line_1z_total_wages": ("line_1a_wages",),
    "line_9_total_income": (
        "line_1z_total_wages", "line_2b_taxable_interest", "line_3b_ordinary_dividends",
        "line_4b_taxable_ira", "line_5b_taxable_pensions", "line_6b_taxable_social_security",
        "line_7_capital_gain", "line_8_additional_income"),
    "line_11_adjusted_gross_income": ("line_9_total_income", "-line_10_adjustments"),
    "line_14_total_deductions": ("line_12_deductions", "line_13_business_income_deduction"),
    "line_15_taxable_income": ("line_11_adjusted_gross_income", "-line_14_total_deductions"),
    "line_18_tax_sum": ("line_16_tax", "line_17_schedule_2"),
    "line_21_credits": ("line_19_child_tax_credit", "line_20_schedule_3"),
    "line_22_tax_less_credits": ("line_18_tax_sum", "-line_21_credits"),
    "line_24_total_tax": ("line_22_tax_less_credits", "line_23_other_taxes"),
    "line_25d_withheld": ("line_25a_withheld_w2", "line_25b_withheld_1099",
                          "line_25c_withheld_other"),
    "line_32_refundable_credits": (
        "line_27_earned_income_credit", "line_28_additional_child_tax_credit",
        "line_29_american_opportunity_credit", "line_31_schedule_3"),
    "line_33_total_payments": ("line_25d_withheld", "line_32_refundable_credits"),
    "line_34_overpaid": ("line_33_total_payments", "-line_24_total_tax"),
    "line_35a_refund": ("line_34_overpaid", "-line_36_applied"),
    "line_37_amount_owed": ("line_24_total_tax", "-line_33_total_payments"),
    "medicare_wages": ("social_security_wages",), "state_wages": ("wages",),
}  # fmt: skip
"""Terms of each sum; the first must be on the document, unless all are of one kind."""
_ANY_FIRST = ("total_taxes", "total_deductions", "line_25d_withheld", "line_32_refundable_credits")
SHARES = {
    "social_security_tax": ("social_security_wages", 0.062),
    "medicare_tax": ("medicare_wages", 0.0145),
}
"""Taxes that are a fixed share of the wages by law."""
_PARTS = {
    **dict.fromkeys((*_TAXES, "health_insurance", "retirement"), ("gross_pay", "regular_pay")),
    **dict.fromkeys(("discount", "shipping", "tax", "service_charge", "tip"), ("subtotal",)),
    "amount_paid": ("total",), "withdrawals": ("opening_balance",), "checks": ("opening_balance",),
    "fees": ("opening_balance",), "interest": ("opening_balance",),
}  # fmt: skip
_PART_SHARE = 0.2
"""Entities whose amounts are at most this share of the first of these entities that is known."""


@dataclass
class Agreement:
    """The amounts of a document so far."""

    holds: bool
    """Whether the amounts of this document agree."""
    made: dict[str, float] = field(default_factory=dict)

    def amount(self, entity: str, random: float) -> float:
        """Return the amount of an entity: from the others if it depends on them, or `random`."""
        whole = next((self.made[each] for each in _PARTS.get(entity, ()) if each in self.made), 0.0)
        most = _PART_SHARE * whole if self.holds else 0.0
        result = round(random % most if most >= 1 else random, 2)
        due = self._dependent(entity) if self.holds else None
        if due is not None and due >= 0.01:
            result = round(due, 2)
        self.made[entity] = result
        return result

    def _dependent(self, entity: str) -> float | None:
        base, share = SHARES.get(entity, ("", 0.0))
        if base in self.made:
            return share * self.made[base]
        terms = SUMS.get(entity, ())
        known = [term for term in terms if term.lstrip("-") in self.made]
        if not known or (terms[0] not in known and entity not in _ANY_FIRST):
            return None
        signs = [-1 if term[0] == "-" else 1 for term in known]
        return sum(s * self.made[t.lstrip("-")] for s, t in zip(signs, known, strict=True))


def agreeing_date(entity: str, drawn: tuple[int, int, int], number: int) -> tuple[int, int, int]:
    """Return day, month and year of a date, in order with the other dates of the document.

    Args:
        entity: what the date is.
        drawn: day, month and year drawn at random.
        number: number drawn for the document. It decides the years and birthdays of all dates.
    """
    day, month, year = drawn
    first = 2016 + number % 8
    if "expir" in entity:
        year = first + 4 + number // 8 % 7
    elif "issue" in entity or "since" in entity:
        year = first
    if number // 56 % 2 and ("birth" in entity or entity in ("expiration_date", "card_expires")):
        # Many licences expire on a birthday.
        day, month = 1 + number // 112 % 28, 1 + number // 3136 % 12
    return day, month, year
