"""Tests of the emulated AWS."""
