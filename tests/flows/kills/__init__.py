"""Workers and the front are killed at bad moments; everything that was accepted is finished."""
