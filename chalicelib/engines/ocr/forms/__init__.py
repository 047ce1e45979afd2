"""Finds fields of forms and names of table headers, by a template."""
