"""The contract's examples, compared with what is sent."""
