"""Tests of the HTTP door."""
