"""Accounts, their credentials, limits and usage, and their webhooks."""
