"""The prices of docs/deploy.md are those that the command computes."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra import costs

DOCS = Path(__file__).parents[2] / "docs" / "deploy.md"


def test_documented_prices_are_computed() -> None:
    """Every line that `python -m infra.costs` prints stands in the documentation."""
    text = DOCS.read_text()

    assert [line for line in costs.lines({}) if line not in text] == []


def test_price_of_a_call_is_the_sum_of_its_parts() -> None:
    """Gateway, request, memory and disk over time, reads, writes and log lines are added up."""
    use = costs.Use("x", "api_handler", 2.0, reads=10, writes=4, gets=5, puts=2, messages=1)
    memory = 2.0 * 3538 / 1024 * 0.0000166667
    disk = 2.0 * 0.5 * 0.0000000309
    calls = 3.5e-6 + 0.2e-6 + 10 * 0.125e-6 + 4 * 0.625e-6 + 5 * 0.4e-6 + 2 * 5e-6 + 3 * 0.4e-6

    assert costs.price(use) == pytest.approx(memory + disk + calls + 1e-6 * 0.5)


def test_measured_seconds_replace_the_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    """A kind of call can be priced with its measured time; an unknown kind is refused."""
    assert costs.main(["--seconds", "page of OCR=0.5"]) == 0
    assert "| page of OCR | 0.5 |" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        costs.main(["--seconds", "tea=1"])
