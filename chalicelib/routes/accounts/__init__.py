"""Tokens, what the account may and did use, and who is told of what happens in it."""

from chalicelib.routes.accounts import oauth, usage, webhooks

OPERATIONS = (
    *oauth.OPERATIONS,
    *usage.OPERATIONS,
    *webhooks.OPERATIONS,
)
