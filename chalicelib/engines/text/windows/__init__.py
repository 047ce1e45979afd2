"""Long texts: the windows of a text are weighted and joined to one vector."""
