"""Tests of the engines, which use no AWS."""
