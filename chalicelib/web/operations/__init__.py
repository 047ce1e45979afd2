"""The declaration of operations, the steps of a call, and reading of its request."""
