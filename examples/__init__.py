"""Example applications. `housekeeping` runs with `python -m examples.housekeeping`; the others say how themselves."""
