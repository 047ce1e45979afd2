"""The client without a service: what it reads, writes and decides."""
