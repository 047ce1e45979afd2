"""Tests that compare answers of the service with the contract's examples."""
