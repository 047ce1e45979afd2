"""Log lines out of the log group of a deployed API, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.config import Settings
from infra.auditing.tally import EVENT
from infra.target import CommandError

MAX_PAGES = 20_000
"""Pages that are asked for at most; each looks through about a megabyte of the log."""


class LogGroup:
    """The log group of one stack's API."""

    def __init__(self, settings: Settings) -> None:
        self.name = f"/presage/{settings.name}/api"
        # The service answers a few such calls a second: throttled ones are repeated, slower.
        config = Config(retries={"mode": "adaptive", "total_max_attempts": 10})
        session = boto3.session.Session(region_name=settings.region)
        self._client = session.client("logs", endpoint_url=settings.endpoint_url, config=config)

    def first_time(self, now: datetime) -> datetime:
        """Return from when on lines are there.

        Raises:
            CommandError: there is no such log group, or it cannot be asked.
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
        """Yield the prediction lines of a month that were written between two moments.

        Raises:
            CommandError: the log group cannot be read, or has too many pages.
        """
        wanted: dict[str, Any] = {
            "logGroupName": self.name,
            "startTime": int(start.timestamp() * 1000),
            "endTime": int(end.timestamp() * 1000),
            "filterPattern": f'{{ $.event = "{EVENT}" && $.month = "{month}" }}',
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
            f"{self.name} has more than {MAX_PAGES} pages in this month: use the query of "
            "docs/runbook.md, Audit, or pass lines of a shorter time by --log"
        )

    def _failed(self, error: Exception) -> CommandError:
        return CommandError(
            f"{self.name} cannot be read ({error}); it takes the rights "
            "logs:DescribeLogGroups and logs:FilterLogEvents"
        )
