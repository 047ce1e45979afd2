"""Jobs: queues, turns, leases, guards, deletions, exports, batches and webhooks' deliveries."""
