"""What is written for the keys of a template."""
