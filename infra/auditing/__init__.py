"""Compares the counters of predictions with the lines of predictions in the log.

`python -m infra.accounts audit`; see docs/runbook.md.
"""
