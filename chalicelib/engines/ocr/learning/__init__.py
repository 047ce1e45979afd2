"""Learns a form template from documents and the values that a person wrote down for them."""
