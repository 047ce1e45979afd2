"""Accounts, their refresh tokens and what they have used."""
