"""Tests of the emulators that are installed apart."""
