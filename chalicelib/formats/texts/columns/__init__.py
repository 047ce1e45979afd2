"""The columns of tables: their names and content, and which have the texts and the labels."""
