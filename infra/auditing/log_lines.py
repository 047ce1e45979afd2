"""Reads log lines from files or from the log groups of a stage, and counts them by account."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TextIO

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.config import Settings
from chalicelib.domain.accounts.usage import (
    COUNTED,
    GIVEN_BACK,
    NEVER_COUNTED,
    OUTCOMES,
    PREDICTIONS,
    UNKNOWN,
)
from infra.local.logs import log_files
from infra.target import CommandError

EVENT, SETTLEMENT = "prediction", "settlement"
# One of these texts is in every relevant line; other lines are skipped without parsing them.
_MARKS = f'"event": "{EVENT}"', f'"event": "{SETTLEMENT}"'


@dataclass
class Tally:
    """The counts of predictions in the log of one month."""

    month: str
    """Name of the month, such as `2026-11`."""
    by_account: dict[str, Counter[str]] = field(default_factory=dict)
    """Number of lines by account id, then by outcome."""
    damaged: int = 0
    """Relevant lines that cannot be parsed."""
    _settled: set[tuple[str, str]] = field(default_factory=set)
    """Event name and `token` of each counted line that has a `token`, to skip repeated lines."""

    def add(self, lines: Iterable[str]) -> None:
        """Count lines; lines of other events and months are ignored."""
        for line in lines:
            if any(mark in line for mark in _MARKS):
                self._add(line)

    def counts_of(self, account_id: str) -> Counter[str]:
        """Return the number of log lines of an account, for each outcome."""
        return self.by_account.get(account_id, Counter())

    def _add(self, line: str) -> None:
        try:
            found = json.loads(line)
            event, month, outcome = found["event"], found["month"], found["outcome"]
            account = str(found["account"])
        except (ValueError, KeyError, TypeError):
            self.damaged += 1
            return
        if event not in (EVENT, SETTLEMENT) or month != self.month:
            return
        if event == SETTLEMENT:
            self._settle(account, found, outcome)
            return
        if outcome not in OUTCOMES:
            self.damaged += 1
            return
        if not self._is_repeated(event, found):
            self.by_account.setdefault(account, Counter())[outcome] += int(found.get("count", 1))

    def _settle(self, account: str, record: dict[str, Any], outcome: str) -> None:
        """Correct an account's counts by a line that reports released or uncounted predictions."""
        is_known = record.get("kind") == PREDICTIONS and outcome in (GIVEN_BACK, NEVER_COUNTED)
        if is_known and not self._is_repeated(SETTLEMENT, record):
            was, count = (COUNTED, int(record["count"])) if "count" in record else (UNKNOWN, 1)
            self.by_account.setdefault(account, Counter()).update({was: -count, GIVEN_BACK: count})

    def _is_repeated(self, event: str, record: dict[str, Any]) -> bool:
        """Return whether an earlier line had the same token, which happens if a job ran twice."""
        token = str(record.get("token", ""))
        if not token:
            return False
        is_repeated = (event, token) in self._settled
        self._settled.add((event, token))
        return is_repeated


# Most characters of a line that are read at once; lines of the service are far shorter.
_MAX_LINE = 64 * 1024
# Attempts to read a folder whose files are rotated at the same time.
_TRIES = 5


@contextmanager
def opened(path: Path) -> Iterator[list[TextIO]]:
    """Open a log file, or all log files that a folder contains at one moment.

    Raises:
        CommandError: there is no file, files are being rotated, or a file cannot be read.
    """
    try:
        with ExitStack() as stack:
            files = [stack.enter_context(file) for file in _open(path)]
            if not files:
                raise CommandError(
                    f"{path} has no log lines; name a file or folder of them by --log, "
                    "or pass --aws for the log group of a deployed stack"
                )
            yield files
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from error


def lines_of(files: Sequence[TextIO]) -> Iterator[str]:
    """Yield the lines of all files."""
    for file in files:
        file.seek(0)
        while line := file.readline(_MAX_LINE):
            yield line


def first_time(files: Sequence[TextIO]) -> datetime | None:
    """Return the time of the oldest line; None if no file begins with a line of this service."""
    found = []
    for file in files:
        file.seek(0)
        try:
            found.append(datetime.fromisoformat(json.loads(file.readline(_MAX_LINE))["time"]))
        except (ValueError, KeyError, TypeError):
            continue
    return min(found, default=None)


def _open(path: Path) -> list[TextIO]:
    """Open a file, or all files of a folder; try again if log rotation renames files meanwhile."""
    if not path.is_dir():
        return [_text(path)]
    for _ in range(_TRIES):
        before = _inodes(path)
        try:
            files = [_text(file) for file in before]
        except FileNotFoundError:
            continue
        if _inodes(path) == before:
            return files
        for file in files:
            file.close()
    raise CommandError(f"the files of {path} are being rotated; try again")


def _text(path: Path) -> TextIO:
    return path.open(encoding="utf-8", errors="replace")


def _inodes(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_ino for path in log_files(folder)}


_OTHERS = ("texts", "pictures", "delete-object", "embed-texts")
# Largest number of pages of results; CloudWatch searches about a megabyte of the log for each.
MAX_PAGES = 20_000


class LogGroup:
    """Reads the log groups of a stage. Each function that logs predictions has a log group."""

    def __init__(self, settings: Settings) -> None:
        # The oldest of the groups: this function once answered all routes.
        self.name = f"/presage/{settings.name}/api"
        self._others = tuple(f"/presage/{settings.name}/{short}" for short in _OTHERS)
        # CloudWatch allows a few such calls a second, so throttled calls are repeated at a lower
        # rate.
        config = Config(retries={"mode": "adaptive", "total_max_attempts": 10})
        session = boto3.session.Session(region_name=settings.region)
        self._client = session.client("logs", endpoint_url=settings.endpoint_url, config=config)

    def first_time(self, now: datetime) -> datetime:
        """Return the earliest time from which the log group `name` can still have lines.

        This is the group's creation or the start of its retention period, whichever is later.

        Raises:
            CommandError: the log group does not exist or cannot be read.
        """
        try:
            answer = self._client.describe_log_groups(logGroupNamePrefix=self.name)
        except (ClientError, BotoCoreError) as error:
            raise self._failed(error) from error
        found = [group for group in answer["logGroups"] if group["logGroupName"] == self.name]
        if not found:
            raise CommandError(
                f"there is no log group {self.name}: compare PRESAGE_NAME and the region with the "
                "deployed stack"
            )
        made = datetime.fromtimestamp(found[0]["creationTime"] / 1000, UTC)
        days = found[0].get("retentionInDays")
        return made if days is None else max(made, now - timedelta(days=days))

    def lines(self, start: datetime, end: datetime, month: str) -> Iterator[str]:
        """Yield lines about predictions of a month that were written between `start` and `end`.

        Raises:
            CommandError: a log group cannot be read, or has too many pages.
        """
        for name in (self.name, *self._others):
            yield from self._lines(name, start, end, month)

    def _lines(self, name: str, start: datetime, end: datetime, month: str) -> Iterator[str]:
        wanted: dict[str, Any] = {
            "logGroupName": name,
            "startTime": int(start.timestamp() * 1000),
            "endTime": int(end.timestamp() * 1000),
            "filterPattern": f'{{ ($.event = "{EVENT}" || $.event = "{SETTLEMENT}") '
            f'&& $.month = "{month}" }}',
        }
        for _ in range(MAX_PAGES):
            try:
                page = self._client.filter_log_events(**wanted)
            except (ClientError, BotoCoreError) as error:
                raise self._failed(error) from error
            yield from (event["message"] for event in page["events"])
            if not page.get("nextToken"):
                return
            wanted["nextToken"] = page["nextToken"]
        raise CommandError(
            f"{name} has more than {MAX_PAGES} pages in this month: use the query of "
            "docs/runbook.md, Audit, or pass lines of a shorter time by --log"
        )

    def _failed(self, error: Exception) -> CommandError:
        return CommandError(
            f"{self.name} cannot be read ({error}); it takes the rights "
            "logs:DescribeLogGroups and logs:FilterLogEvents"
        )
