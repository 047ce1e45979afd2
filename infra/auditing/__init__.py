"""Compares the counters of predictions with the log lines about predictions.

The command is `python -m infra.accounts audit`; see docs/runbook.md.
"""
