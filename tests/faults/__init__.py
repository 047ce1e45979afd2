"""Every AWS call fails once: what was acknowledged stays, and all work ends."""
