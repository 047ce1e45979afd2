"""Reads text, tables, contacts and forms from pages; independent of AWS and HTTP."""
