"""Tests of the vision engines, which use no AWS."""
