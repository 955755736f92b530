"""The documentation, run: what it shows works."""
