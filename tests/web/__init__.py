"""Tests of the layer between Chalice and the views."""
