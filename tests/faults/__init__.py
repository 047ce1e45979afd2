"""Each AWS call fails once: acknowledged data stays, and all work ends."""
