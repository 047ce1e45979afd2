"""Accounts, their tokens and what they have used."""
