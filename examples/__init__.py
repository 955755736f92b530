"""Example applications. Each is a package that runs with `python -m examples.<name>`."""
