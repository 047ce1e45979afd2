"""Requests, responses and pages of lists, in the form of API Gateway."""
