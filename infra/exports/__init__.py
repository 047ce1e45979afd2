"""Everything that an account has, as files that it can upload again or take elsewhere.

The command is `python -m infra.accounts export EMAIL DIR`.
"""
