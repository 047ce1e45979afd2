"""Columns of tables: their names, their content, and which are text and label."""
