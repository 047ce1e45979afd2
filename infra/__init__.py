"""Commands that provision, run and administer the service; never shipped to Lambda."""
