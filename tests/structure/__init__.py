"""What the source must look like."""
