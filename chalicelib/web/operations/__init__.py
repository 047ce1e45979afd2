"""Declarations of operations, the steps of a call, and parsing of its request."""
