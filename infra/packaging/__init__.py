"""The steps of `python -m infra.build`, one module each.

A package is the zip of the deployed functions: app.py, chalicelib and the run-time packages, for
the Python that runs the build.
"""
