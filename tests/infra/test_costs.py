"""The prices of docs/deploy.md are those that the command computes."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from chalicelib import log, metrics
from chalicelib.domain.accounts.usage import PREDICTIONS, Reservation
from chalicelib.domain.models.model import ServedModel
from chalicelib.metrics import METRICS
from chalicelib.web.http.access_log import write_access
from infra import costs
from infra.template.gateway import LOG_FIELDS
from tests.domain.accounts.test_usage import Counter

DOCS = Path(__file__).parents[2] / "docs" / "deploy.md"


def test_documented_prices_are_computed() -> None:
    """The documentation contains every line that `python -m infra.costs` prints."""
    text = DOCS.read_text()

    assert [line for line in costs.lines({}) if line not in text] == []


def test_price_of_a_call_is_the_sum_of_its_parts() -> None:
    """Gateway, request, memory and disk over time, calls, log lines and answer are added up."""
    use = costs.Use(
        "x", "api_handler", 2.0, reads=10, writes=4, gets=5, puts=2, messages=1, answer_kb=3
    )
    memory = 2.0 * 3538 / 1024 * 0.0000166667
    disk = 2.0 * 3.5 * 0.0000000309
    calls = 3.5e-6 + 0.2e-6 + 10 * 0.125e-6 + 4 * 0.625e-6 + 5 * 0.4e-6 + 2 * 5e-6 + 3 * 0.4e-6

    rest = 2.5e-6 * (0.50 + 0.03) + 3e-6 * 0.09

    assert costs.price(use) == pytest.approx(memory + disk + calls + rest)
    job = costs.price(replace(use, by_gateway=False))
    assert costs.price(use) - job == pytest.approx(3.5e-6 + 3e-6 * 0.09)


def test_texts_cost_by_profile_and_length() -> None:
    """A long text on the accurate profile costs more than a short one on the fast."""
    prices = {use.kind: 1_000 * costs.price(use) for use in costs.USES if use.counted_as}

    assert {kind: f"{value:.4f}" for kind, value in prices.items()} == {
        "text, fast, 10 words": "0.0089",
        "text, fast, 60 words": "0.0094",
        "text, accurate, 10 words": "0.0100",
        "text, accurate, 60 words": "0.0149",
    }


def test_small_stage_costs_as_much_idle() -> None:
    """Nothing that SIZE=small changes runs while there are no calls."""
    assert costs.idle(costs.SMALL) == costs.idle(costs.STANDARD)
    assert "| idle, a month | $ | $ with `SIZE=small` |" in costs.lines({})


def test_every_price_has_a_page() -> None:
    """Every price has the page where it can be checked, and no page is left over."""
    found = {page: [n for n in costs.PRICES if n.startswith(page)] for page in costs.PAGES}

    assert all(found.values())
    assert sorted(name for names in found.values() for name in names) == sorted(costs.PRICES)


def test_metrics_are_counted_in_all_their_dimensions() -> None:
    """Each combination of dimensions counts as a metric."""
    assert {name for m in METRICS for name in m.dimensions} == set(costs.DIMENSION_VALUES)
    routes = sum(metric.dimensions == ("Route",) for metric in METRICS)
    assert costs.most_metrics() > routes * costs.DIMENSION_VALUES["Route"]


def test_lines_of_a_call_are_as_long_as_assumed(lines: Any) -> None:
    """The log lines of a prediction fit into the assumed bytes."""
    event = {"requestContext": {"httpMethod": "POST", "resourcePath": "/v2/language/sentiment"}}
    model = ServedModel("A" * 26, "text-sentiment", "", "r")
    now = datetime(2026, 11, 1, tzinfo=UTC)
    reservation = Reservation(Counter(), "1000", PREDICTIONS, now, model)
    metrics.configure(metrics.EMF, "presage-prod")
    with log.bound(request_id="r" * 36, invocation_id="i" * 36, account="1000"):
        reservation.count(10)
        reservation.settle()
        write_access(event, {"statusCode": 200, "body": "x" * 500}, 0.01234, is_known=True)
    metrics.configure(metrics.OFF, "presage")
    access = json.dumps(LOG_FIELDS)
    ours = sum(len(json.dumps(line)) for line in lines()) + len(access)
    events = len(lines()) + 4  # Lambda adds three, the gateway one

    assert ours + costs.RUN_LOG_BYTES + 26 * events < costs.LOG_BYTES


def test_measured_seconds_replace_the_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    """A kind of call can be priced with its measured time; an unknown kind is refused."""
    assert costs.main(["--seconds", "page of OCR=0.5"]) == 0
    assert "| page of OCR | api | 0.5 |" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        costs.main(["--seconds", "tea=1"])


def test_arm_costs_less() -> None:
    """A second of a Graviton processor costs a fifth less, everything else the same."""
    use = costs.Use("x", "records", 2.0)
    seconds = 2.0 * 512 / 1024 * (0.0000166667 - 0.0000133334)

    assert costs.price(use) - costs.price(use, costs.ARM) == pytest.approx(seconds)


def test_warm_starts_are_priced_by_memory() -> None:
    """SnapStart and provisioned instances are priced by memory and month."""
    texts = next(function for function in costs.FUNCTIONS if function.name == "texts")
    gb, month = 3538 / 1024, 30 * 24 * 3600

    assert costs.provisioned_price(texts) == pytest.approx(gb * month * 0.0000041667)
    assert costs.image(texts) == pytest.approx(gb * month * 0.0000015046)
    assert costs.restored(texts) == pytest.approx(gb * 0.0001397998)
    rows = [line for line in costs.lines({}) if line.startswith(("| api |", "| texts |"))]
    assert [line.count("—") for line in rows] == [2, 0]


@pytest.mark.parametrize(("days", "warns"), [(0, False), (365, False), (366, True)])
def test_old_prices_are_warned_about(days: int, warns: bool) -> None:
    """Prices older than a year are reported with their date."""
    noted = date.fromisoformat(costs.PRICES_NOTED)

    warning = costs.price_warning(noted + timedelta(days=days))

    assert (costs.PRICES_NOTED in warning) == warns
