"""The stack behind the real programs of deploy/caddy and deploy/nginx."""
