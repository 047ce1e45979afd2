"""The line of each prediction: which month, and what became of it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chalicelib import metrics
from chalicelib.domain.accounts.usage import Usage
from chalicelib.domain.models.model import ServedModel
from chalicelib.errors import PredictionQuotaExceeded, StorageUnavailable
from chalicelib.web.metering import Metering

OCTOBER, NOVEMBER = datetime(2026, 10, 31, 23, 59, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC)
MODEL = ServedModel("M", "text-intent", "SUCCEEDED", "r1-1")
USAGE = Usage(10, 1, NOVEMBER, datetime(2026, 12, 1, tzinfo=UTC))


def fail(error: Exception):
    """Raise an error when called."""

    def call():
        raise error

    return call


@pytest.fixture
def metering():
    """A prediction asked for in the last minute of October, with metrics on."""
    metrics.configure(metrics.EMF, "presage")
    yield Metering(MODEL, OCTOBER)
    metrics.configure(metrics.OFF, "presage")


def figures(line) -> set[str]:
    """List the metrics that a line carries."""
    directives = line.get("_aws", {"CloudWatchMetrics": ()})["CloudWatchMetrics"]
    return {metric["Name"] for directive in directives for metric in directive["Metrics"]}


def test_counted_in_the_month_of_its_counter(metering, lines):
    """The line names the month in whose counter the prediction stands."""
    metering.reserve(lambda: USAGE)
    metering.write("language")

    (line,) = lines()
    assert (line["outcome"], line["month"], line["model"]) == ("counted", "2026-11", "M")
    assert figures(line) == {"Predictions", "EngineMilliseconds"}
    assert line["Type"] == "text-intent"


@pytest.mark.parametrize(("is_known", "outcome"), [(True, "given_back"), (False, "unknown")])
def test_given_back(metering, lines, is_known, outcome):
    """A prediction that was given back counts no more; unless nobody knows whether it was."""
    metering.reserve(lambda: USAGE)
    metering.give_back(lambda: is_known)
    metering.write("language")

    (line,) = lines()
    assert (line["outcome"], line["month"]) == (outcome, "2026-11")
    assert figures(line) == ({"PredictionsGivenBack"} if is_known else set())


def test_give_back_that_fails_is_unknown(metering, lines):
    """An error of giving back leaves the outcome open."""
    metering.reserve(lambda: USAGE)
    with pytest.raises(StorageUnavailable):
        metering.give_back(fail(StorageUnavailable()))
    metering.write("language")

    assert lines()[0]["outcome"] == "unknown"


def test_refused(metering, lines):
    """A prediction beyond the allowance is refused, and counted as such."""
    with pytest.raises(PredictionQuotaExceeded):
        metering.reserve(fail(PredictionQuotaExceeded("used up", 60)))
    metering.write("language")

    (line,) = lines()
    assert (line["outcome"], line["month"]) == ("refused", "2026-10")
    assert (figures(line), line["Kind"]) == ({"QuotaRefusals"}, "predictions")


def test_reservation_of_unknown_outcome(metering, lines):
    """When the table's answer was lost the prediction may be counted or not."""
    with pytest.raises(StorageUnavailable):
        metering.reserve(fail(StorageUnavailable()))
    metering.write("language")

    assert (lines()[0]["outcome"], figures(lines()[0])) == ("unknown", set())
