"""Tests of the API: raw gateway events through the Chalice application."""
