"""Tests of detection, which use no AWS."""
