"""Datasets: rows, labels, leases, receipts, and how examples are added and read with them."""
