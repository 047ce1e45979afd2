"""Machine learning on arrays; independent of AWS and HTTP."""
