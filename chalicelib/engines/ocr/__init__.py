"""Reads text, tables, contacts and forms from images of pages; independent of AWS and HTTP."""
