"""The parts between Chalice and the views."""
