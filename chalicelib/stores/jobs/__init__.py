"""Queues, heartbeats of leases, guards of trainings, deletion records."""
