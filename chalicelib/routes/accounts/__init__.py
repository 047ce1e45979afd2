"""Tokens, API keys, usage and webhooks of an account."""

from chalicelib.routes.accounts import keys, oauth, usage, webhooks

MODULES = (
    oauth,
    keys,
    usage,
    webhooks,
)
