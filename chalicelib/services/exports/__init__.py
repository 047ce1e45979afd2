"""Exports of datasets: asking for one, and writing it."""
