"""Tests of the comparison of counters with log lines."""
