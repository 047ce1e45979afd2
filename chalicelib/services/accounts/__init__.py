"""Accounts, their tokens and their usage."""
