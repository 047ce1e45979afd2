"""`python -m presage` is the command `presage`."""

from presage.cli.app import main

main()
