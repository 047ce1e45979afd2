"""Compares the counters of predictions with the lines of predictions in the log.

The command is `python -m infra.accounts audit`; see docs/runbook.md.
"""
