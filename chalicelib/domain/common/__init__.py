"""What every part uses: moments, ids, pages of lists, limits."""
