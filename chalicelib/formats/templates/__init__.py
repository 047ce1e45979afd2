"""Form templates, as callers send them and as they ship."""
