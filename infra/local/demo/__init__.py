"""What a start shows: a demo account, its first models, and the accurate encoders later."""
