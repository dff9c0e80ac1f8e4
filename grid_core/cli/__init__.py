"""The command line ``grid``: one file a command, and the plugins' commands beside them."""
