"""What an operation declares, how a call of one runs, and what it reads from its request."""
