"""Workers and front are killed at critical moments; all accepted work must be finished."""
