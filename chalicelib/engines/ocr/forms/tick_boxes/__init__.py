"""Finds tick boxes and radio buttons, their states, and the texts that they label."""
