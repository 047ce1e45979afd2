"""Files that become examples: accepting them, reading them, the forms for large ones."""
