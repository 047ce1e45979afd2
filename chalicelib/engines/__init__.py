"""The machine learning of the service, on arrays. Independent of AWS and HTTP."""
