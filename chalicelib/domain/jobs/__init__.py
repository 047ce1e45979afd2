"""Queue messages, leases, batches, exports, webhooks and deletion records."""
