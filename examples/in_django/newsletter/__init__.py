"""People subscribe, are welcomed, and get a digest each day."""
