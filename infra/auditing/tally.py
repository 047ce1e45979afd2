"""Counts the prediction lines of one month by account."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from chalicelib.domain.accounts.usage import OUTCOMES

EVENT = "prediction"
_MARK = f'"event": "{EVENT}"'
"""How a line of interest looks before it is parsed; all others are passed over quickly."""


@dataclass
class Tally:
    """What a log says of one month."""

    month: str
    """For example `2026-11`."""
    by_account: dict[str, Counter[str]] = field(default_factory=dict)
    """Lines by account and outcome."""
    damaged: int = 0
    """Lines that look like one of interest and cannot be read."""

    def add(self, lines: Iterable[str]) -> None:
        """Count lines; those of other events and months are passed over."""
        for line in lines:
            if _MARK in line:
                self._add(line)

    def of(self, account_id: str) -> Counter[str]:
        """Return the lines of an account by outcome."""
        return self.by_account.get(account_id, Counter())

    def _add(self, line: str) -> None:
        """Count one line of interest."""
        try:
            found = json.loads(line)
            event, month, outcome = found["event"], found["month"], found["outcome"]
            account = str(found["account"])
        except (ValueError, KeyError, TypeError):
            self.damaged += 1
            return
        if event != EVENT or month != self.month:
            return
        if outcome not in OUTCOMES:
            self.damaged += 1
            return
        self.by_account.setdefault(account, Counter())[outcome] += 1
