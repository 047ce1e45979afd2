"""Accounts, plans and monthly allowances."""
