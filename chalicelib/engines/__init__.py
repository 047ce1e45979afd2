"""Machine learning on arrays; knows nothing of AWS or HTTP."""
