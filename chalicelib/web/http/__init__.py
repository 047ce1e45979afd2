"""Requests, answers and pages as the gateway carries them."""
