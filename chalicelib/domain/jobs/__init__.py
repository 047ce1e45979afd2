"""Queue messages, leases, cancellation, deletion records."""
