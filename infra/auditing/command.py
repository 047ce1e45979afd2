"""The audit command: compares the prediction counters of a month with the lines of the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import PREDICTIONS
from chalicelib.stores.accounts.quotas import QuotaStore
from infra.auditing import log_lines, report
from infra.auditing.log_lines import LogGroup, Tally
from infra.auditing.report import Month

# Largest difference between the clocks of functions and of the log.
_SKEW = timedelta(minutes=5)


@dataclass(frozen=True)
class Audit:
    """The month, the log and the options of an audit."""

    month: Month
    now: datetime
    log: Path | LogGroup
    """Source of the lines: a file, a folder, or a log group."""
    tolerance: int
    """Largest accepted difference between the counter and the log lines of one account."""


def compare(
    audit: Audit, accounts: Sequence[Account], quotas: QuotaStore, *, is_complete: bool
) -> tuple[list[str], bool]:
    """Compare counters with log lines; return lines to print, and whether counters and log agree.

    The log is read before the counters. So a simultaneous prediction can only increase a counter,
    and a counter below the account's number of log lines is always an error. `is_complete`
    says whether `accounts` has all accounts.

    Raises:
        CommandError: the log cannot be read.
        StorageUnavailable: a counter cannot be read.
    """
    tally = Tally(audit.month.key)
    first = _read(audit, tally)
    counters = {
        account.account_id: quotas.used(account.account_id, PREDICTIONS, audit.month.key)
        for account in accounts
    }
    rows = report.rows(accounts, counters, tally, is_complete=is_complete)
    differing = [row for row in rows if not row.agrees(audit.tolerance)]
    made = min((account.created_at for account in accounts), default=audit.now)
    found = report.notes(audit.month, (made, first, audit.now), tally)
    notes = [f"note: {note}" for note in found]
    end = (
        f"{len(differing)} of {len(rows)} accounts differ by more than is allowed "
        f"({audit.tolerance} and what is unknown, none below the lines): see docs/runbook.md, Audit"
        if differing
        else f"all {len(rows)} agree"
    )
    return [*report.table(rows), *notes, end], not differing


def _read(audit: Audit, tally: Tally) -> datetime | None:
    """Add the lines of the log to the tally; return the earliest time in the log, if known."""
    if isinstance(audit.log, Path):
        with log_lines.opened(audit.log) as files:
            tally.add(log_lines.lines_of(files))
            return log_lines.first_time(files)
    end = min(audit.now, audit.month.end + report.LATE) + _SKEW
    first = audit.log.first_time(audit.now)
    tally.add(audit.log.lines(audit.month.start - _SKEW, end, audit.month.key))
    return first
