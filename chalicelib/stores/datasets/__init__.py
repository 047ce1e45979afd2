"""Datasets: rows, labels, leases, receipts, additions and corrections."""
