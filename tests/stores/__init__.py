"""Tests of stores on the emulated AWS."""
