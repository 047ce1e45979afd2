"""Webhooks and the delivery of their events."""
