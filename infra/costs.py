"""Estimates the cost of a deployment, idle and per thousand calls, from AWS list prices.

`python -m infra.costs` prints the tables of docs/deploy.md. The prices are list prices of us-east-1
for x86 functions, without free tiers, discounts and taxes. They were copied by hand on the date in
`PRICES_NOTED`; check them on the listed pages before you rely on a figure. A test compares the
number of AWS calls with recorded calls. Seconds and sizes of answers are assumptions.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from math import prod

from chalicelib.domain.datasets.dataset import FAMILY_TYPES
from chalicelib.domain.documents.ocr import TASKS
from chalicelib.metrics import METRICS
from chalicelib.routes import OPERATIONS
from infra.template.alarms import all_alarms
from infra.template.functions import (
    ANSWERING,
    API,
    BY_QUEUE,
    FUNCTIONS,
    PICTURES,
    RECORDS,
    TEXTS,
    Function,
)
from infra.template.parameters import memory_id, size

# Sizes of a stage: see `size` in infra/template/parameters.py.
STANDARD, SMALL = SIZES = ("standard", "small")
# The date on which the prices were noted.
PRICES_NOTED = "2025-11-01"
YEAR_DAYS = 365
# Pages with the prices, by the first word of their name.
PAGES = {
    "lambda": "https://aws.amazon.com/lambda/pricing/",
    "gateway": "https://aws.amazon.com/api-gateway/pricing/",
    "dynamodb": "https://aws.amazon.com/dynamodb/pricing/on-demand/",
    "s3": "https://aws.amazon.com/s3/pricing/",
    "sqs": "https://aws.amazon.com/sqs/pricing/",
    "secret": "https://aws.amazon.com/secrets-manager/pricing/",
    "cloudwatch": "https://aws.amazon.com/cloudwatch/pricing/",
    "transfer": "https://aws.amazon.com/ec2/pricing/on-demand/",
    "waf": "https://aws.amazon.com/waf/pricing/",
}
# Dates of prices that were noted later than the others, by the first word of their names.
NOTED_LATER = {"waf": "2026-11-28"}
# US dollars.
PRICES = {
    "lambda_gb_second": 0.0000166667,
    "lambda_arm_gb_second": 0.0000133334,
    "lambda_kept_gb_second": 0.0000041667,
    "lambda_snapshot_gb_second": 0.0000015046,
    "lambda_restore_gb": 0.0001397998,
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
    "cloudwatch_alarm_month": 0.10,
    "cloudwatch_dashboard_month": 3.00,
    "cloudwatch_metric_month": 0.30,
    "cloudwatch_log_gb": 0.50,
    "cloudwatch_log_gb_month": 0.03,
    "transfer_gb": 0.09,
    "waf_acl_month": 5.00,
    "waf_rule_month": 1.00,
    "waf_request": 0.60 / 1e6,
}
# Types of processors, by the values of `ARCH`.
X86, ARM = ARCHITECTURES = ("x86_64", "arm64")
_GB_SECOND = {X86: "lambda_gb_second", ARM: "lambda_arm_gb_second"}
MONTH_SECONDS = 30 * 24 * 3600
FREE_DISK_GB = 0.5
# Number of long polls that Lambda keeps open for an empty queue, and their length.
POLLERS, POLL_SECONDS = 5, 20
# Bytes of log lines of one call: those of the function, of Lambda and of the gateway.
LOG_BYTES = 2_500
# Bytes of the log lines that Lambda itself writes for one run of a function.
RUN_LOG_BYTES = 500
# Months for which log lines are stored by default.
LOG_MONTHS = 1
# Number of values of each dimension of the metrics, if all features are used.
DIMENSION_VALUES = {
    "Route": sum(len(list(operation.routes())) for operation in OPERATIONS),
    "Type": sum(len(types) for types in FAMILY_TYPES.values()),
    "Kind": 2,
    "Task": len(TASKS),
    "Function": len(FUNCTIONS),
    "Model": 13,
}
# Size of the model files in the bucket.
MODEL_GB = 0.2
_BY_NAME = {function.name: function for function in FUNCTIONS}


@dataclass(frozen=True)
class Use:
    """The AWS resources that one call uses."""

    kind: str
    """Kind of call."""
    function: str
    """Function that runs the call."""
    seconds: float
    """Assumed time of the function; change it by `--seconds`."""
    reads: float = 0
    """Number of DynamoDB calls that read, 4 KB each."""
    writes: float = 0
    """Number of DynamoDB calls that write, 1 KB each."""
    gets: float = 0
    """Number of S3 calls that read."""
    puts: float = 0
    """Number of S3 calls that write or list."""
    messages: float = 0
    """Number of queue messages that are sent; each is also received and deleted."""
    by_gateway: bool = True
    """True for a call that comes through the API's gateway, False for a job."""
    answer_kb: float = 1
    """Assumed size of the answer with its headers, in kilobytes."""
    counted_as: str = ""
    """Another kind of call that makes the same AWS calls; a test counts the calls of that kind."""


# Assumed seconds that a function needs to load its engines at its start; Lambda charges for them.
START_SECONDS = {RECORDS: 1.5, TEXTS: 2.5, PICTURES: 1.5, API: 1.5}
# All predictions of texts make the same AWS calls, so a test counts the calls of this kind only.
TEXT = "intent or sentiment"
# Assumed seconds by profile and length. Each is three times the engine's time that `make
# bench-text` prints (two threads, on a desktop), plus 0.03 for the rest of the call.
TEXT_SECONDS = {
    "fast, 10 words": 0.05,
    "fast, 60 words": 0.06,
    "accurate, 10 words": 0.07,
    "accurate, 60 words": 0.154,
}
# The uses per warm call. A test compares their AWS calls with recorded ones.
USES = (
    *(
        Use(f"text, {kind}", TEXTS, seconds, reads=2, writes=1, counted_as=TEXT)
        for kind, seconds in TEXT_SECONDS.items()
    ),
    Use("image prediction", PICTURES, 0.25, reads=2, writes=1),
    Use("page of OCR", API, 1.5, reads=1, writes=2, answer_kb=20),
    Use("list of examples", RECORDS, 0.12, reads=3, writes=1, answer_kb=25),
    Use("dataset record", RECORDS, 0.06, reads=2),
)


def price(use: Use, architecture: str = X86) -> float:
    """Return the price of one call, in dollars.

    The price is the sum of: gateway request, function request, seconds × (memory + disk above 0.5
    GB), DynamoDB reads and writes, S3, 3 queue requests per message, log lines (ingested and
    stored), and the outgoing transfer of the answer.
    """
    found = run_price(_BY_NAME[use.function], use.seconds, architecture=architecture)
    found += use.reads * PRICES["dynamodb_read"] + use.writes * PRICES["dynamodb_write"]
    found += use.gets * PRICES["s3_get"] + use.puts * PRICES["s3_put"]
    found += 3 * use.messages * PRICES["sqs_request"]
    found += _log_price(LOG_BYTES)
    answer = use.answer_kb / 1e6 * PRICES["transfer_gb"] + PRICES["gateway_request"]
    return found + (answer if use.by_gateway else 0)


def _log_price(size: float) -> float:
    """Return the price in dollars of ingesting and storing `size` bytes of log lines."""
    kept = LOG_MONTHS * PRICES["cloudwatch_log_gb_month"]
    return size / 1e9 * (PRICES["cloudwatch_log_gb"] + kept)


def run_price(
    function: Function, seconds: float, size_name: str = STANDARD, architecture: str = X86
) -> float:
    """Return the price in dollars of one run of a function."""
    memory_mb = int(size(size_name)[memory_id(function)])
    disk_gb = max(0.0, function.disk_mb / 1024 - FREE_DISK_GB)
    a_second = memory_mb / 1024 * PRICES[_GB_SECOND[architecture]]
    a_second += disk_gb * PRICES["lambda_disk_gb_second"]
    return PRICES["lambda_request"] + seconds * a_second


def idle(size_name: str = STANDARD) -> dict[str, float]:
    """Return the monthly costs in dollars of an idle stage, by item."""
    polls = len(BY_QUEUE) * POLLERS * MONTH_SECONDS / POLL_SECONDS
    sweeps = MONTH_SECONDS / 60
    # A sweep reads a few indexes, each with a few keys.
    sweep_reads = 12 * PRICES["dynamodb_read"]
    return {
        f"polls of {len(BY_QUEUE)} empty queues": polls * PRICES["sqs_request"],
        "sweeps, one a minute": sweeps
        * (run_price(_BY_NAME["sweep"], 0.3, size_name) + sweep_reads + _log_price(RUN_LOG_BYTES)),
        f"{len(all_alarms())} alarms": len(all_alarms()) * PRICES["cloudwatch_alarm_month"],
        "dashboard": PRICES["cloudwatch_dashboard_month"],
        "signing key": PRICES["secret_month"],
        "model files": MODEL_GB * PRICES["s3_gb_month"],
    }


def watching() -> float:
    """Return the monthly cost of alarms and dashboard in dollars; the idle cost includes it."""
    alarms = len(all_alarms()) * PRICES["cloudwatch_alarm_month"]
    return alarms + PRICES["cloudwatch_dashboard_month"]


def training(seconds: float, name: str = "train_paid") -> float:
    """Return the price in dollars of a training that takes `seconds`."""
    return run_price(_BY_NAME[name], seconds)


def provisioned_price(function: Function) -> float:
    """Return the monthly price of one process that is kept ready (provisioned), in dollars."""
    return function.memory_mb / 1024 * MONTH_SECONDS * PRICES["lambda_kept_gb_second"]


def image(function: Function) -> float:
    """Return the monthly price of a function's memory image (SnapStart), in dollars."""
    return function.memory_mb / 1024 * MONTH_SECONDS * PRICES["lambda_snapshot_gb_second"]


def restored(function: Function) -> float:
    """Return the price of one start from a memory image, in dollars."""
    return function.memory_mb / 1024 * PRICES["lambda_restore_gb"]


def _warmth() -> Iterator[str]:
    """Yield the rows of the table of start times. Each function that answers routes has one row."""
    for function in (f for f in FUNCTIONS if f.name in ANSWERING):
        snap = f"{image(function):.2f} | {1000 * restored(function):.2f}"
        loading = f"{1000 * run_price(function, START_SECONDS[function.name]):.2f}"
        snapped = snap if function.can_snap else "— | —"
        yield (
            f"| {function.short} | {function.memory_mb:,} | {loading} | {snapped} | "
            f"{provisioned_price(function):.2f} |"
        )


def web_acl() -> float:
    """Return the monthly price of the web ACL with one rule, in dollars."""
    return PRICES["waf_acl_month"] + PRICES["waf_rule_month"]


def most_metrics() -> int:
    """Return the number of metrics if every combination of dimension values occurs."""
    return sum(prod(DIMENSION_VALUES[name] for name in m.dimensions) for m in METRICS)


def stored_gb() -> float:
    """Return the monthly price of a gigabyte of examples in table and backup, in dollars."""
    return PRICES["dynamodb_gb_month"] + PRICES["dynamodb_pitr_gb_month"]


def lines(seconds: Mapping[str, float]) -> list[str]:
    """Return the tables of prices as Markdown lines.

    Args:
        seconds: measured seconds for kinds of calls; they replace assumed seconds.
    """
    uses = [replace(use, seconds=seconds.get(use.kind, use.seconds)) for use in USES]
    idles, smalls = (idle(name) for name in SIZES)
    rows = [(name, idles[name], smalls[name]) for name in idles]
    whole, small = sum(idles.values()), sum(smalls.values())
    metric = PRICES["cloudwatch_metric_month"]
    return [
        f"List prices of us-east-1 as noted on {PRICES_NOTED}, US dollars. Check them on:",
        "",
        *(f"- {page}" for page in PAGES.values()),
        "",
        "| idle, a month | $ | $ with `SIZE=small` |",
        "|---|---|---|",
        *(f"| {name} | {a:.2f} | {b:.2f} |" for name, a, b in rows),
        f"| **together** | **{whole:.2f}** | **{small:.2f}** |",
        f"| without alarms and dashboard | {whole - watching():.2f} | {small - watching():.2f} |",
        "",
        "| a thousand calls | function | seconds each | reads | writes | $ | $ with `ARCH=arm64` |",
        "|---|---|---|---|---|---|---|",
        *map(_row, uses),
        "",
        "| function | memory, MB | $ for 1,000 starts | $ a month with SnapStart "
        "| $ for 1,000 starts with SnapStart | $ a month for a provisioned process |",
        "|---|---|---|---|---|---|",
        *_warmth(),
        "",
        "| other | $ |",
        "|---|---|",
        f"| a minute of training | {training(60):.4f} |",
        f"| a gigabyte in tables, a month | {stored_gb():.2f} |",
        f"| a gigabyte in the bucket, a month | {PRICES['s3_gb_month']:.3f} |",
        f"| web ACL (`WebAcl`), a month; noted on {NOTED_LATER['waf']} | {web_acl():.2f} |",
        f"| a million calls through the web ACL | {1e6 * PRICES['waf_request']:.2f} |",
        f"| a metric that is written all month | {metric:.2f} |",
        f"| all {most_metrics()} metrics, written all month | {most_metrics() * metric:.2f} |",
    ]


def _row(use: Use) -> str:
    facts = (use.kind, _BY_NAME[use.function].short, use.seconds, use.reads, use.writes)
    prices = (f"{1000 * price(use, architecture):.4f}" for architecture in ARCHITECTURES)
    written = (f"{fact:g}" if isinstance(fact, float | int) else fact for fact in facts)
    return f"| {' | '.join((*written, *prices))} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m infra.costs", description=__doc__)
    parser.add_argument(
        "--seconds", nargs="*", default=[], metavar="KIND=SECONDS", help="seconds of a call"
    )
    options = parser.parse_args(arguments)
    try:
        seconds = {
            kind: float(text) for kind, _, text in (p.partition("=") for p in options.seconds)
        }
    except ValueError:
        parser.error("--seconds takes KIND=SECONDS")
    if unknown := sorted(set(seconds) - {use.kind for use in USES}):
        parser.error(f"unknown kind {unknown[0]!r}; kinds: {', '.join(u.kind for u in USES)}")
    print("\n".join(lines(seconds)))
    if warning := price_warning(date.today()):
        print(f"warning: {warning}", file=sys.stderr)
    return 0


def price_warning(today: date) -> str:
    """Return a warning if the prices are more than a year old, otherwise an empty text."""
    days = (today - date.fromisoformat(PRICES_NOTED)).days
    if days <= YEAR_DAYS:
        return ""
    return f"the prices were noted on {PRICES_NOTED}, {days} days ago. Check them before use."


if __name__ == "__main__":
    sys.exit(main())
