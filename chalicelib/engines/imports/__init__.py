"""Imports heads of models that were exported elsewhere: copies them safely and tests them."""
