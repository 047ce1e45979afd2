"""The HTTP front of the local stack, which turns requests into events of API Gateway."""
