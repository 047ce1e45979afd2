"""Reads text, tables, contacts and forms from pages; knows neither AWS nor HTTP."""
