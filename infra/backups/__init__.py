"""Copies of all tables and the bucket of one stack, as files that anybody can read.

The command is infra/backup.py; the local stack keeps its own copy by infra/local/snapshots.py.
"""
