"""The client against the whole service; does not import the service (see tests/pythons)."""

from pathlib import Path

WEATHER = Path(__file__).parents[2] / "data" / "weather.csv"
"""73 texts with three labels, and one of them twice."""
