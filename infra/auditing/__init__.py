"""Compares the counters of predictions with the prediction lines of the log.

`python -m infra.accounts audit`; see docs/runbook.md.
"""
