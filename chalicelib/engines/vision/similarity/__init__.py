"""Pictures that show the same."""
