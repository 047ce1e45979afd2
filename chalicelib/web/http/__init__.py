"""Requests, responses and pages of lists, in the form of the gateway."""
