"""Tests of services on real stores."""
