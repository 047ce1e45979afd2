"""Jobs: queues, turns, leases, guard entries, deletions, exports, batches, webhook deliveries."""
