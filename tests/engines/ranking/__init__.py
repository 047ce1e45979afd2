"""Tests of the engines: pure, no AWS."""
