"""Formats the comparison of counters and log lines, and lists what cannot be checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import (
    COUNTED,
    GIVEN_BACK,
    KEPT_AFTER_RESET,
    REFUSED,
    UNKNOWN,
    month_key,
    next_month_start,
)
from infra.auditing.log_lines import Tally
from infra.target import CommandError

# Default tolerance: predictions whose process was killed before it could write their line.
TOLERANCE = 3
# The last line of a month may be written this long after its end: the longest run of a function.
LATE = timedelta(minutes=15)


@dataclass(frozen=True)
class Month:
    """A calendar month, UTC."""

    start: datetime

    @property
    def end(self) -> datetime:
        """First moment of the next month."""
        return next_month_start(self.start)

    @property
    def key(self) -> str:
        """Name of the month, for example `2026-11`."""
        return month_key(self.start)


@dataclass(frozen=True)
class ReportRow:
    """The counter of one account, and the counts from the account's log lines."""

    account_id: str
    email: str
    """Email address of the account, or a note if the account was deleted."""
    counter: int
    lines: int
    """Number of predictions that the log lines report as counted."""
    refused: int
    """Number of predictions that were refused."""
    given_back: int
    """Number of predictions that were counted and then refunded."""
    unknown: int
    """Number of predictions that may or may not have been counted."""

    @property
    def difference(self) -> int:
        """The counter minus the predictions that the log lines report as counted."""
        return self.counter - self.lines

    def agrees(self, tolerance: int) -> bool:
        """Return whether 0 <= difference <= `tolerance` + number of unknown predictions."""
        return 0 <= self.difference <= tolerance + self.unknown


def parse_month(text: str | None, now: datetime) -> Month:
    """Parse the name of a month; without a name, return the current month.

    Raises:
        CommandError: the name is not a month, the month has not begun, or its counters have been
            deleted.
    """
    if text is None:
        return Month(datetime(now.year, now.month, 1, tzinfo=UTC))
    found = re.fullmatch(r"([0-9]{4})-(0[1-9]|1[0-2])", text)
    if found is None or found[1] == "0000":
        raise CommandError(f"--month takes a month such as {month_key(now)}, not {text!r}")
    month = Month(datetime(int(found[1]), int(found[2]), 1, tzinfo=UTC))
    if month.start > now:
        raise CommandError(f"{text} has not begun")
    if month.end + KEPT_AFTER_RESET < now:
        raise CommandError(
            f"the counters of {text} are gone: they are kept {KEPT_AFTER_RESET.days} days"
        )
    return month


def rows(
    accounts: Sequence[Account], counters: Mapping[str, int], tally: Tally, *, is_complete: bool
) -> list[ReportRow]:
    """Return a row per account; if `is_complete`, also for accounts that only the log has."""
    emails = {account.account_id: account.email for account in accounts}
    ids = [*emails, *(sorted(set(tally.by_account) - set(emails)) if is_complete else ())]
    return [
        ReportRow(
            account_id=account_id,
            email=emails.get(account_id, "(no such account)"),
            counter=counters.get(account_id, 0),
            lines=tally.counts_of(account_id)[COUNTED],
            refused=tally.counts_of(account_id)[REFUSED],
            given_back=tally.counts_of(account_id)[GIVEN_BACK],
            unknown=tally.counts_of(account_id)[UNKNOWN],
        )
        for account_id in ids
    ]


def table(rows: Sequence[ReportRow]) -> list[str]:
    """Format rows as lines for a terminal."""
    heads = ("counted", "lines", "difference", "refused", "given back", "unknown")
    lines = [f"{'id':>6}  {'e-mail':32}" + "".join(f"{head:>12}" for head in heads)]
    for row in rows:
        figures = (row.counter, row.lines, row.difference, row.refused, row.given_back, row.unknown)
        cells = "".join(f"{figure:>12}" for figure in figures)
        lines.append(f"{row.account_id:>6}  {row.email:32}{cells}")
    return lines


def notes(
    month: Month, times: tuple[datetime, datetime | None, datetime], tally: Tally
) -> list[str]:
    """List what a comparison of counters with the log cannot check.

    Args:
        month: the month.
        times: when the first account was created, when the oldest log line was written (None if
            unknown), and the current time.
        tally: counts of the log.
    """
    made, first, now = times
    found = []
    if first is None:
        found.append("the log holds no line with a time, so it is not known what is missing")
    elif first > max(made, month.start):
        found.append(
            f"the log begins on {first:%Y-%m-%d %H:%M} UTC: predictions of {month.key} before "
            "that have no line, unless there were none"
        )
    if now < month.end + LATE:
        found.append(
            f"{month.key} is not over: predictions that are being made, and lines on their way "
            "to the log, show as a difference"
        )
    if tally.damaged:
        found.append(f"{tally.damaged} prediction lines are damaged and were left out")
    return found
