"""Tokens, API keys, usage and webhooks of an account."""

from chalicelib.routes.accounts import keys, oauth, usage, webhooks

OPERATIONS = (
    *oauth.OPERATIONS,
    *keys.OPERATIONS,
    *usage.OPERATIONS,
    *webhooks.OPERATIONS,
)
