"""Exports all data of an account as files that can be uploaded again or used elsewhere.

The command is `python -m infra.accounts export EMAIL DIR`.
"""
