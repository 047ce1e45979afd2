"""Backups of all tables and the bucket of one stack, as plain files.

The command is infra/backup.py. The local stack saves its data with infra/local/snapshots.py.
"""
