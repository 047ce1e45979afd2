"""The log line of each prediction: its month and outcome."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from chalicelib import metrics
from chalicelib.domain.accounts import usage
from chalicelib.domain.accounts.account import ACTIVE, Account
from chalicelib.domain.accounts.usage import Allowances, until_answered
from chalicelib.domain.models.model import ServedModel
from chalicelib.errors import ModelUnreadable, PredictionQuotaExceeded, StorageUnavailable

NOW = datetime(2026, 11, 1, tzinfo=UTC)
ACCOUNT = Account("2", "a@example.test", "STARTER", "HEROKU", ACTIVE, (), "LICENSEIDX", NOW)
MODEL = ServedModel("M", "text-intent", "SUCCEEDED", "r1-1")
BROKEN = ModelUnreadable("M", "broken")


def raising(error: Exception) -> Callable[[], None]:
    """Make work that fails."""

    def work() -> None:
        """Fail."""
        raise error

    return work


class Counter:
    """Counts one kind; fails as configured."""

    def __init__(self) -> None:
        self.count = 0
        self.failure: Exception | None = None
        self.is_known = True

    def reserve(self, account_id, kind, month, limit, expires_at, token) -> int | None:
        """Count a call."""
        if self.failure:
            raise self.failure
        if self.count >= limit:
            return None
        self.count += 1
        return self.count

    def keep(self, account_id, kind, month, token) -> None:
        """Let a call stay counted."""

    def release(self, account_id, kind, month, token) -> bool:
        """Take a call back."""
        if self.failure:
            raise self.failure
        self.count -= 1
        return self.is_known

    def used(self, account_id, kind, month) -> int:
        """Return the number of counted calls."""
        return self.count


@pytest.fixture
def counter() -> Counter:
    """A counter of predictions, with metrics on."""
    metrics.configure(metrics.EMF, "presage")
    yield Counter()
    metrics.configure(metrics.OFF, "presage")


@pytest.fixture
def allowances(counter, clock) -> Allowances:
    """Allowances that are counted there; the month is November."""
    return Allowances(counter, clock, 30)


def figures(line) -> set[str]:
    """List the metrics that a line carries."""
    directives = line.get("_aws", {"CloudWatchMetrics": ()})["CloudWatchMetrics"]
    return {metric["Name"] for directive in directives for metric in directive["Metrics"]}


def test_counted_in_the_month_of_its_counter(allowances, clock, lines):
    """The line names the month of the counter, whenever the prediction is answered."""
    with allowances.prediction(ACCOUNT, MODEL) as usage:
        clock.advance(days=20)

    (line,) = lines()
    assert usage.used == 1
    assert (line["outcome"], line["month"], line["model"]) == ("counted", "2026-11", "M")
    assert (line["type"], line["family"]) == ("text-intent", "language")
    assert figures(line) == {"Predictions", "EngineMilliseconds"}
    assert line["Type"] == "text-intent"


@pytest.mark.parametrize(("is_known", "outcome"), [(True, "given_back"), (False, "unknown")])
def test_given_back(allowances, counter, lines, is_known, outcome):
    """A released prediction no longer counts, unless its release is uncertain."""
    counter.is_known = is_known
    with pytest.raises(ModelUnreadable), allowances.prediction(ACCOUNT, MODEL):
        raise BROKEN

    (line,) = lines()
    assert (line["outcome"], line["month"], counter.count) == (outcome, "2026-11", 0)
    assert figures(line) == ({"PredictionsGivenBack"} if is_known else set())


def test_give_back_that_fails_is_unknown(allowances, counter, lines):
    """If a release fails, the outcome is unknown and the caller's own error is raised."""

    def fail():
        with until_answered("predict_intent"), allowances.prediction(ACCOUNT, MODEL):
            counter.failure = StorageUnavailable()
            raise BROKEN

    with pytest.raises(ModelUnreadable):
        fail()

    error, line = lines()
    assert (error["event"], error["operation"]) == ("reservation_not_given_back", "predict_intent")
    assert line["outcome"] == "unknown"


def test_refused(allowances, counter, lines):
    """A prediction beyond the allowance is refused, and counted as such."""
    counter.count = 2000
    with pytest.raises(PredictionQuotaExceeded), allowances.prediction(ACCOUNT, MODEL):
        raise AssertionError

    (line,) = lines()
    assert (line["outcome"], line["month"]) == ("refused", "2026-11")
    assert (figures(line), line["Kind"]) == ({"QuotaRefusals"}, "predictions")


def test_reservation_of_unknown_outcome(allowances, counter, lines):
    """If the table's answer is lost, the outcome is unknown."""
    counter.failure = StorageUnavailable()
    with pytest.raises(StorageUnavailable), allowances.prediction(ACCOUNT, MODEL):
        raise AssertionError

    assert (lines()[0]["outcome"], figures(lines()[0])) == ("unknown", set())


def test_process_that_dies_leaves_the_prediction_counted(allowances, counter, lines):
    """An exception that ends the process neither releases nor logs the prediction."""
    with pytest.raises(SystemExit), allowances.prediction(ACCOUNT, MODEL):
        raise SystemExit

    assert (counter.count, lines()) == (1, [])


def test_an_answer_that_fails_gives_back_what_was_done_for_it(allowances, counter, lines):
    """If writing the answer fails, the prediction is released."""

    def fail():
        with until_answered("predict_intent"):
            with allowances.prediction(ACCOUNT, MODEL):
                pass
            assert counter.count == 1
            raise BROKEN

    with pytest.raises(ModelUnreadable):
        fail()

    (line,) = lines()
    assert (line["outcome"], counter.count) == ("given_back", 0)


def test_an_answer_that_succeeds_leaves_its_work_counted(allowances, counter, lines):
    """The line is written once, when the answer is made."""
    with until_answered("predict_intent"):
        with allowances.prediction(ACCOUNT, MODEL), allowances.example_call(ACCOUNT):
            pass
        assert lines() == []

    (line,) = lines()
    assert (line["outcome"], counter.count) == ("counted", 2)


def test_milliseconds_last_until_the_answer_is_written(allowances, lines, monkeypatch):
    """The logged duration includes writing the answer."""
    moments = iter([0.0, 1.0, 3.5])
    monkeypatch.setattr(usage.time, "perf_counter", lambda: next(moments))
    with until_answered("predict_intent"), allowances.prediction(ACCOUNT, MODEL):
        pass

    assert lines()[0]["milliseconds"] == 2500


def test_work_while_it_is_counted(allowances, counter, lines):
    """A prediction counted during its work ends like one counted before."""
    found, left = allowances.predict(ACCOUNT, MODEL, lambda: "found")

    (line,) = lines()
    assert (found, left.used, counter.count, line["outcome"]) == ("found", 1, 1, "counted")


def test_work_that_fails_while_it_is_counted(allowances, counter, lines):
    """If the work fails while the call is counted, it is released and the error raised."""
    with pytest.raises(ModelUnreadable):
        allowances.predict(ACCOUNT, MODEL, raising(BROKEN))

    (line,) = lines()
    assert (line["outcome"], counter.count) == ("given_back", 0)


@pytest.mark.parametrize("work", [lambda: "found", raising(BROKEN)])
def test_refusal_outweighs_the_work(allowances, counter, lines, work):
    """A prediction beyond the quota is refused, whatever its work returned."""
    counter.count = 2000
    with pytest.raises(PredictionQuotaExceeded):
        allowances.predict(ACCOUNT, MODEL, work)

    (line,) = lines()
    assert (line["outcome"], counter.count) == ("refused", 2000)
    assert figures(line) == {"QuotaRefusals"}


@pytest.mark.parametrize("work", [lambda: "found", raising(BROKEN)])
def test_storage_that_fails_outweighs_the_work(allowances, counter, lines, work):
    """If counting fails, the prediction is neither answered nor released."""
    counter.failure = StorageUnavailable()
    with pytest.raises(StorageUnavailable):
        allowances.predict(ACCOUNT, MODEL, work)

    (line,) = lines()
    assert (line["outcome"], counter.count) == ("unknown", 0)


def test_who_was_refused_is_counted_before_the_work_until_that_succeeds(allowances, counter):
    """After a refusal calls are counted before the work, until one succeeds."""
    worked: list[int] = []

    def work() -> None:
        """Record how many calls are counted when the work begins."""
        worked.append(counter.count)

    counter.count = 2000
    for _ in range(2):
        with pytest.raises(PredictionQuotaExceeded):
            allowances.predict(ACCOUNT, MODEL, work)
    assert len(worked) == 1

    counter.count = 5
    allowances.predict(ACCOUNT, MODEL, work)

    assert worked[1:] == [6]
    assert ACCOUNT.account_id not in allowances._refused
