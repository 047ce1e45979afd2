"""Tokens, usage and webhooks of an account."""

from chalicelib.routes.accounts import oauth, usage, webhooks

OPERATIONS = (
    *oauth.OPERATIONS,
    *usage.OPERATIONS,
    *webhooks.OPERATIONS,
)
