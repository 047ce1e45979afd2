"""What a deployment costs idle and per thousand calls: list prices times what a call uses.

`python -m infra.costs` prints the tables of docs/deploy.md. Prices are those of us-east-1 without
free tiers and discounts, noted on the date below: compare them with AWS's pages before relying on
them. AWS calls per call are compared with recorded ones by a test; seconds are assumptions.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from infra.template.alarms import all_alarms
from infra.template.functions import BY_QUEUE, FUNCTIONS, Function

PRICES_NOTED = "2025-11-01"
"""When the prices were noted."""
PRICES = {
    "lambda_gb_second": 0.0000166667,
    "lambda_disk_gb_second": 0.0000000309,
    "lambda_request": 0.20 / 1e6,
    "gateway_request": 3.50 / 1e6,
    "dynamodb_read": 0.125 / 1e6,
    "dynamodb_write": 0.625 / 1e6,
    "dynamodb_gb_month": 0.25,
    "dynamodb_pitr_gb_month": 0.20,
    "s3_gb_month": 0.023,
    "s3_get": 0.0004 / 1e3,
    "s3_put": 0.005 / 1e3,
    "sqs_request": 0.40 / 1e6,
    "secret_month": 0.40,
    "alarm_month": 0.10,
    "dashboard_month": 3.00,
    "log_gb": 0.50,
}
"""US dollars."""
MONTH_SECONDS = 30 * 24 * 3600
FREE_DISK_GB = 0.5
POLLERS, POLL_SECONDS = 5, 20
"""Lambda asks an empty queue by so many long polls at a time."""
LOG_BYTES = 1_000
"""Of function and access log, for one call."""
MODEL_GB = 0.2
"""Model files in the bucket."""
_BY_NAME = {function.name: function for function in FUNCTIONS}


@dataclass(frozen=True)
class Use:
    """What one call uses."""

    kind: str
    """What is called."""
    function: str
    """Whose time it takes."""
    seconds: float
    """Assumed time of the function; change it by `--seconds`."""
    reads: float = 0
    """DynamoDB calls that read, 4 KB each."""
    writes: float = 0
    """DynamoDB calls that write, 1 KB each."""
    gets: float = 0
    """S3 calls that read."""
    puts: float = 0
    """S3 calls that write or list."""
    messages: float = 0
    """Jobs sent; each is received and deleted too."""
    by_gateway: bool = True
    """Whether it is a call of the API, not a job."""


USES = (
    Use("intent or sentiment", "api_handler", 0.05, reads=2, writes=1),
    Use("image prediction", "api_handler", 0.25, reads=2, writes=1),
    Use("page of OCR", "api_handler", 1.5, reads=1),
    Use("list of examples", "api_handler", 0.08, reads=3, writes=1),
    Use("dataset record", "api_handler", 0.04, reads=2),
)
"""Per warm call. A test compares the AWS calls with recorded ones."""


def price(use: Use) -> float:
    """Return the price of one call, in dollars.

    Gateway request + function request + seconds × (memory + disk beyond 0.5 GB) + DynamoDB reads
    and writes + S3 + 3 queue requests a message + log lines.
    """
    found = _run_price(_BY_NAME[use.function], use.seconds)
    found += use.reads * PRICES["dynamodb_read"] + use.writes * PRICES["dynamodb_write"]
    found += use.gets * PRICES["s3_get"] + use.puts * PRICES["s3_put"]
    found += 3 * use.messages * PRICES["sqs_request"]
    found += LOG_BYTES / 1e9 * PRICES["log_gb"]
    return found + (PRICES["gateway_request"] if use.by_gateway else 0)


def _run_price(function: Function, seconds: float) -> float:
    """Return the price of one run of a function, in dollars."""
    disk_gb = max(0.0, function.disk_mb / 1024 - FREE_DISK_GB)
    a_second = function.memory_mb / 1024 * PRICES["lambda_gb_second"]
    a_second += disk_gb * PRICES["lambda_disk_gb_second"]
    return PRICES["lambda_request"] + seconds * a_second


def idle() -> dict[str, float]:
    """Return what a stack costs in a month in which nobody calls, in dollars by item."""
    polls = len(BY_QUEUE) * POLLERS * MONTH_SECONDS / POLL_SECONDS
    sweeps = MONTH_SECONDS / 60
    # The sweep asks three indexes by a few keys, and scans the accounts.
    sweep_reads = 12 * PRICES["dynamodb_read"]
    return {
        f"polls of {len(BY_QUEUE)} empty queues": polls * PRICES["sqs_request"],
        "sweeps, one a minute": sweeps * (_run_price(_BY_NAME["sweep"], 0.3) + sweep_reads),
        f"{len(all_alarms())} alarms": len(all_alarms()) * PRICES["alarm_month"],
        "dashboard": PRICES["dashboard_month"],
        "signing key": PRICES["secret_month"],
        "model files": MODEL_GB * PRICES["s3_gb_month"],
    }


def training(seconds: float, name: str = "train_paid") -> float:
    """Return the price of a training of so many seconds, in dollars."""
    return _run_price(_BY_NAME[name], seconds)


def stored_gb() -> float:
    """Return the price of a gigabyte of examples for a month: table and its backup, in dollars."""
    return PRICES["dynamodb_gb_month"] + PRICES["dynamodb_pitr_gb_month"]


def lines(seconds: Mapping[str, float]) -> list[str]:
    """Write the tables.

    Args:
        seconds: of some kinds of calls, in place of the assumed ones.
    """
    uses = [replace(use, seconds=seconds.get(use.kind, use.seconds)) for use in USES]
    idles = idle()
    return [
        f"List prices of us-east-1 as noted on {PRICES_NOTED}, US dollars.",
        "",
        "| idle, a month | $ |",
        "|---|---|",
        *(f"| {name} | {value:.2f} |" for name, value in idles.items()),
        f"| **together** | **{sum(idles.values()):.2f}** |",
        "",
        "| a thousand calls | seconds each | reads | writes | $ |",
        "|---|---|---|---|---|",
        *(
            f"| {u.kind} | {u.seconds:g} | {u.reads:g} | {u.writes:g} | {1000 * price(u):.4f} |"
            for u in uses
        ),
        "",
        "| other | $ |",
        "|---|---|",
        f"| a minute of training | {training(60):.4f} |",
        f"| a gigabyte in tables, a month | {stored_gb():.2f} |",
        f"| a gigabyte in the bucket, a month | {PRICES['s3_gb_month']:.3f} |",
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m infra.costs", description=__doc__)
    parser.add_argument(
        "--seconds", nargs="*", default=[], metavar="KIND=SECONDS", help="measured times"
    )
    options = parser.parse_args(arguments)
    try:
        seconds = {
            kind: float(text) for kind, _, text in (p.partition("=") for p in options.seconds)
        }
    except ValueError:
        parser.error("--seconds takes KIND=SECONDS")
    if unknown := sorted(set(seconds) - {use.kind for use in USES}):
        parser.error(
            f"there is no kind {unknown[0]!r}; there are: {', '.join(u.kind for u in USES)}"
        )
    print("\n".join(lines(seconds)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
