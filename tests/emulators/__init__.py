"""Emulators of AWS for the tests beyond moto: installed from locks, started, stopped.

Nothing of them is in the development environment; each has a separate one, see
tests/emulators/environment.py. `make test-localstack` and `make test-deploy` use them.
"""
