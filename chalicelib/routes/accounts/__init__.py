"""Tokens, and what the account may and did use."""

from chalicelib.routes.accounts import oauth, usage

OPERATIONS = (
    *oauth.OPERATIONS,
    *usage.OPERATIONS,
)
