"""Columns of tables: their names, their content, and which hold text and label."""
