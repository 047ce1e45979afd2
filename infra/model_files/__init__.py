"""Model files: where they come from, how they are converted, checked and installed.

Called by infra/models.py. See: infra/model_files/manifest.py
"""
