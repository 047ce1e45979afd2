"""Who is told of what happens, and the telling."""
