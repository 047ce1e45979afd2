"""The parts of `python -m infra.build`: one step of packaging a file.

A package is the zip of the deployed functions: app.py, chalicelib, and the run-time packages, for
the Python that builds it. See: infra/build.py
"""
